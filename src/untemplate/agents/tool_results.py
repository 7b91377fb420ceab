"""What the tools of an agent take and return, as typed objects.

Results are small: lists have a length and a part of their members, texts are cut. Whatever a web site wrote is in
fields whose names begin with `untrusted`, so that an agent knows which words are data.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from untemplate.value_types import Type

__all__ = [
    "AttributeSpec",
    "Explained",
    "Extracted",
    "HealedRules",
    "LabelSpec",
    "LearnedAttribute",
    "LearnedRulesOf",
    "PageOutline",
    "RowsOfPage",
    "Sources",
    "Template",
    "Templates",
    "WatchedRules",
    "cut",
]

MAX_TEXT = 300
"""Characters of a value in a result."""

Count = Annotated[int, Field(ge=0, le=1_000_000_000)]


def cut(text: str) -> str:
    """Return a text that is short enough for a result."""
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AttributeSpec(_Spec):
    """An attribute to extract."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,39}$", description="a word such as price")]
    type: Annotated[Type, Field(description="the type of its values")] = "text"
    many: Annotated[bool, Field(description="True if a page may have several values")] = False
    mandatory: Annotated[bool, Field(description="True if every page has it")] = False


class LabelSpec(_Spec):
    """The value of an attribute on a page, by the number of its node, by its text, or both."""

    page: Annotated[str, Field(max_length=2_000, description="the id of the page")]
    attribute: Annotated[str, Field(max_length=60)]
    node: Annotated[int | None, Field(ge=0, le=10**9, description="the number that show_page gave it")] = None
    last_node: Annotated[
        int | None, Field(ge=0, le=10**9, description="only if the value spans nodes up to this one")
    ] = None
    text: Annotated[
        str | None,
        Field(max_length=20_000, description="the value, if it is a part of the node, or without a node"),
    ] = None
    absent: Annotated[bool, Field(description="True if the page does not have the attribute")] = False
    row: Annotated[
        int | None, Field(ge=1, le=100_000, description="on a list page, the number of its row")
    ] = None


class Sources(BaseModel):
    """Where pages are."""

    sources: list[str]
    hosts: list[str]
    working_folder: str


class Template(BaseModel):
    """Pages made from one template."""

    template: str
    pages: int
    untrusted_url_pattern: str
    label_these: list[str]


class Templates(BaseModel):
    """The templates of a source."""

    templates: list[Template]
    pages: int
    pages_without_template: int
    pages_left_out: str


class PageOutline(BaseModel):
    """A page as numbered nodes."""

    page: str
    untrusted_url: str
    untrusted_nodes: str
    shown: int
    folded: int
    tokens: int


class LearnedAttribute(BaseModel):
    """How learning one attribute went."""

    attribute: str
    template: str
    rule: str | None
    fits_labels: bool
    coverage: float
    problems: list[str]
    look_at: str | None
    untrusted_examples: list[list[str]]


class LearnedRulesOf(BaseModel):
    """The rules of a site."""

    name: str
    attributes: list[LearnedAttribute]
    templates_without_rules: list[str]
    problems: list[str]
    labels: int
    next_step: str


class Extracted(BaseModel):
    """Records of a source."""

    records: int
    offset: int
    untrusted_rows: list[dict[str, Any]]
    file: str
    with_value: dict[str, int]


class RowsOfPage(BaseModel):
    """The rows of a list page."""

    page: str
    rows: int
    offset: int
    columns: list[str]
    untrusted_rows: list[dict[str, str | None]]
    untrusted_next_page: str | None
    reason: str | None


class WatchedRules(BaseModel):
    """Whether rules still hold."""

    holds: bool
    untrusted_alarms: list[str]


class HealedRules(BaseModel):
    """What became of rules."""

    name: str
    kept: int
    repaired: list[str]
    lost: list[str]
    refused: list[str]
    label_these: dict[str, list[str]]


class Explained(BaseModel):
    """Rules in words."""

    name: str
    attributes: dict[str, dict[str, str]]
