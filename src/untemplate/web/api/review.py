"""Review: records that a person should look at, the least sure first. What is corrected or accepted is a label."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from untemplate.web.api.common import PROBLEMS, Name, SiteOf
from untemplate.web.doubts import find_doubts

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["review"], responses=PROBLEMS)

# Places shown at a time; more are found when these are settled.
MAX_DOUBTS = 200


class DoubtView(BaseModel):
    """A value, or a gap, that a person should look at."""

    page: str
    attribute: str
    texts: list[str]
    confidence: float
    reason: str
    others: list[str] = Field(description="What members of the committee find instead")


class ReviewView(BaseModel):
    """What to look at among the pages of a cluster that the catalog keeps."""

    pages: int = Field(description="Pages that were looked at")
    doubts: list[DoubtView]


@router.get("/review")
def get_review(site: SiteOf, cluster: Name) -> ReviewView:
    """Values with low confidence, disagreement or the wrong type, and gaps of mandatory attributes."""
    bench = site.bench(cluster)
    doubts = []
    for id in site.pages[cluster]:
        page = bench.pages.get(id) or site.catalog.page(site.name, id)
        with bench.lock:
            doubts += find_doubts(bench, page)
    doubts.sort(key=lambda doubt: doubt.confidence)
    return ReviewView(
        pages=len(site.pages[cluster]),
        doubts=[
            DoubtView(
                page=one.page,
                attribute=one.attribute,
                texts=list(one.texts),
                confidence=one.confidence,
                reason=one.reason,
                others=list(one.others),
            )
            for one in doubts[:MAX_DOUBTS]
        ],
    )
