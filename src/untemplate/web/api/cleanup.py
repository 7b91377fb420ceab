"""Clean-up: cut all values of an attribute in the same way, with a preview on all sample pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from untemplate.value_types import Type
from untemplate.web.api.common import ERROR_RESPONSES, RequestBody, Text, WorkspaceParam
from untemplate.web.api.label_views import LabeledView, labeled_view
from untemplate.web.value_cleanup import CleanedPage, ValueCut, apply_cut, preview_cut

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["annotate"], responses=ERROR_RESPONSES)

CutText = Annotated[str, Field(max_length=200)]


class CleanUpBody(RequestBody):
    """Which part of the values of an attribute stays: what follows a text, what comes before one, without signs."""

    site: Text
    page: Text
    attribute: Text
    after: CutText = ""
    before: CutText = ""
    trims: bool = False
    type: Type | None = None

    @property
    def cut(self) -> ValueCut:
        """The part of the values that stays."""
        return ValueCut(self.after, self.before, self.trims, self.type)


class CleanUpView(BaseModel):
    """The values of all sample pages, as they are and as they would be."""

    pages: list[CleanedPage]


@router.post("/cleanup/preview")
def post_preview(workspace: WorkspaceParam, body: CleanUpBody) -> CleanUpView:
    """Learn from labels that are cut, and return what the rule then finds. Nothing is stored."""
    site = workspace.site(body.site)
    cluster = site.cluster_of(body.page)
    return CleanUpView(pages=preview_cut(site, cluster, body.attribute, body.cut))


@router.post("/cleanup")
def post_cleanup(workspace: WorkspaceParam, body: CleanUpBody) -> LabeledView:
    """Cut the labels of an attribute, and learn its rule again."""
    site = workspace.site(body.site)
    change = apply_cut(site, site.cluster_of(body.page), body.attribute, body.cut)
    return labeled_view(workspace.site(body.site), body.page, change)
