"""A made-up site: its pages, their truth, and its redesigns. Everything follows from the seed."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from untemplate.demo.look import Look
from untemplate.demo.page_kinds import about_page, detail_page, list_page
from untemplate.demo.setting import Setting, detail_url
from untemplate.demo.site_frame import SiteFrame
from untemplate.demo.verticals import VERTICALS, WORDS, Entity, Vertical, make_entities, refresh_entity
from untemplate.labeling import Label, write_labels
from untemplate.page import Page
from untemplate.schema import Schema

__all__ = ["Site", "make_site", "write_site"]

# A site with a second detail template gives it this share of its rows.
SECOND_SHARE = 0.35
# Entities that only appear in lists and recommendations.
ROWS_WITHOUT_PAGE = 30


@dataclass(frozen=True)
class _Slot:
    """One page to be written.

    Attributes:
        id: name of its file.
        url: keeps its value when the site is redesigned.
        template: "detail", "detail-2", "list" or "about".
        index: the row of a detail page, or the number of the page among those of its template.
    """

    id: str
    url: str
    template: str
    index: int


@dataclass(frozen=True)
class _Plan:
    """What a site is made from; a redesign is another plan for the same URLs.

    Attributes:
        rows: the database of the site.
        looks: the look of each template.
        visit: seeds what differs between two visits, such as advertisements.
    """

    name: str
    title: str
    vertical: Vertical
    rows: tuple[Entity, ...]
    slots: tuple[_Slot, ...]
    looks: dict[str, Look]
    visit: str

    @property
    def host(self) -> str:
        """Scheme and host of the site's URLs."""
        return f"http://www.{self.title.lower()}.example"


@dataclass
class Site:
    """A made-up site with its truth.

    Attributes:
        pages: in the order of their ids.
        truth: by the id of a detail page, the values of each attribute as the page writes them; an empty list if the
            page lacks the attribute. A value may be part of a text node, or span several, then joined by blanks.
        rows: by the id of a list page, the text of each cell by attribute.
        templates: the template of each page, by id.
        changed: by the id of a detail page, the attributes whose data differ from those before the redesign that
            made this site. Another value is then correct there.
    """

    plan: _Plan = field(repr=False)
    pages: list[Page] = field(default_factory=list, repr=False)
    truth: dict[str, dict[str, list[str]]] = field(default_factory=dict, repr=False)
    rows: dict[str, list[dict[str, str]]] = field(default_factory=dict, repr=False)
    templates: dict[str, str] = field(default_factory=dict, repr=False)
    changed: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def vertical(self) -> str:
        return self.plan.vertical.name

    @property
    def schema(self) -> Schema:
        return Schema.load(self.vertical)

    @property
    def looks(self) -> dict[str, Look]:
        """How each template looks."""
        return self.plan.looks

    @property
    def labels(self) -> list[Label]:
        """The truth of all detail pages as a person would label it; None means that a page lacks the attribute."""
        labels: list[Label] = []
        for page, attributes in self.truth.items():
            for attribute, values in attributes.items():
                labels += [Label(page, attribute, value) for value in values or (None,)]
        return labels

    def redesign(self, strength: float, seed: int) -> Site:
        """Return the site some time later: the same URLs and data, other advertisements and prices, another look.

        Args:
            strength: 0 is a harmless refresh. Small ones rename some classes, add wrappers and move attributes. At 1
                the look is new altogether.
            seed: selects among the redesigns of this strength.

        Raises:
            ValueError: the strength is not between 0 and 1.
        """
        if not 0 <= strength <= 1:
            raise ValueError(f"strength must be between 0 and 1, not {strength}")
        plan, visit = self.plan, f"{self.plan.visit}/{seed}"
        looks = {
            name: look.redesigned(Look.draw(plan.vertical, visit, f"{visit}/{name}"), strength, visit)
            for name, look in plan.looks.items()
        }
        rows = tuple(refresh_entity(plan.vertical, row, Random(f"{visit}/{row.number}")) for row in plan.rows)
        site = _render(replace(plan, looks=looks, rows=rows, visit=visit))
        for slot in plan.slots:
            if slot.id in site.truth:
                old, new = plan.rows[slot.index].values, rows[slot.index].values
                changed = (name for name in site.truth[slot.id] if old[name] != new[name])
                site.changed[slot.id] = frozenset(changed)
        return site


def make_site(vertical: str, seed: int, pages: int = 100) -> Site:
    """Return a made-up site; the same arguments give the same site everywhere.

    Args:
        vertical: one of `untemplate.demo.VERTICALS`.
        seed: selects the site among those of the vertical.
        pages: number of pages: detail pages, list pages and static ones.

    Raises:
        ValueError: there is no such vertical, or no page is asked for.
    """
    if vertical not in VERTICALS:
        raise ValueError(f"no vertical {vertical!r}; there are {', '.join(VERTICALS)}")
    if pages < 1:
        raise ValueError("a site has at least one page")
    name = f"{vertical}-{seed}"
    return _render(_make_plan(VERTICALS[vertical], name, seed, pages))


def _make_plan(vertical: Vertical, name: str, seed: int, pages: int) -> _Plan:
    """Draw the name, the data, the templates and the looks of a site. The name of the site seeds all of it."""
    rng = Random(name)
    title = f"{rng.choice(WORDS['site_words'])}{rng.choice(WORDS['site_endings'])}{seed}"
    about_pages, list_pages = min(pages // 25, len(WORDS["help_topics"])), pages // 8
    detail_pages = pages - about_pages - list_pages
    rows = tuple(make_entities(vertical, rng, detail_pages + ROWS_WITHOUT_PAGE))
    assigned = _assign_templates(rng, detail_pages, list_pages, about_pages)
    templates = sorted({template for template, _ in assigned})
    looks = {template: Look.draw(vertical, name, f"{name}/{template}") for template in templates}
    plan = _Plan(name, title, vertical, rows, (), looks, visit=name)
    slots = tuple(
        _Slot(f"{number:04}.html", plan.host + _page_path(plan, template, index), template, index)
        for number, (template, index) in enumerate(assigned)
    )
    return replace(plan, slots=slots)


def _assign_templates(rng: Random, details: int, lists: int, abouts: int) -> list[tuple[str, int]]:
    """Return the template of each page and its number there, in random order.

    Some sites have a second detail template with its own look, so clustering has to separate the two.
    """
    second_share = SECOND_SHARE if rng.random() < 0.4 and details >= 10 else 0.0
    assigned = [("detail-2" if rng.random() < second_share else "detail", index) for index in range(details)]
    assigned += [("list", index) for index in range(lists)]
    assigned += [("about", index) for index in range(abouts)]
    rng.shuffle(assigned)
    return assigned


def write_site(site: Site, folder: str | Path) -> None:
    """Write the pages as files, with `pages.csv`, `labels.jsonl` and `truth.jsonl` beside them.

    `pages.csv` has the URL of each file, for `read_pages`. `labels.jsonl` has the labels of all detail pages, and
    `truth.jsonl` also the templates and the rows of list pages.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for page in site.pages:
        (folder / page.id).write_bytes(page.html)
    with (folder / "pages.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(("path", "url"))
        table.writerows((page.id, page.url) for page in site.pages)
    write_labels(site.labels, folder / "labels.jsonl")
    with (folder / "truth.jsonl").open("w", encoding="utf-8") as out:
        for page in site.pages:
            out.write(json.dumps(_page_truth(site, page), ensure_ascii=False) + "\n")


def _page_truth(site: Site, page: Page) -> dict[str, object]:
    """Return a line of truth.jsonl."""
    truth: dict[str, object] = {"page": page.id, "url": page.url, "template": site.templates[page.id]}
    if page.id in site.truth:
        truth["values"] = site.truth[page.id]
    if page.id in site.rows:
        truth["rows"] = site.rows[page.id]
    return truth


def _page_path(plan: _Plan, template: str, index: int) -> str:
    """Return the URL of a page without the host."""
    match template:
        case "list":
            return f"/browse/{plan.vertical.plural}.html?page={index + 1}"
        case "about":
            return f"/help/{index}"
        case _:
            return detail_url(plan.name, plan.vertical, plan.rows[index])


def _render(plan: _Plan) -> Site:
    """Write all pages of a plan."""
    site = Site(plan)
    frames = {
        template: SiteFrame(Setting(plan.name, plan.title, plan.host, plan.vertical, look, plan.rows))
        for template, look in plan.looks.items()
    }
    listed_rows = _list_entities(plan)
    for slot in plan.slots:
        frame, noise = frames[slot.template], Random(f"{plan.visit}/{slot.id}")
        path = slot.url.removeprefix(plan.host)
        match slot.template:
            case "list":
                html, site.rows[slot.id] = list_page(frame, path, next(listed_rows), slot.index + 1, noise)
            case "about":
                html = about_page(frame, path, WORDS["help_topics"][slot.index], noise)
            case _:
                html, site.truth[slot.id] = detail_page(frame, plan.rows[slot.index], noise)
        site.templates[slot.id] = slot.template
        site.pages.append(Page(slot.url, _encode_html(html, frame.look.encoding), slot.id))
    return site


def _list_entities(plan: _Plan) -> Iterator[tuple[Entity, ...]]:
    """Yield ten to twenty entities for each list page, without end."""
    rng = Random(f"{plan.name}/lists")
    start = 0
    while True:
        size = rng.randint(10, 20)
        yield tuple(plan.rows[(start + offset) % len(plan.rows)] for offset in range(size))
        start += size


def _encode_html(html: str, encoding: str) -> bytes:
    """Return the bytes of a page. Like real sites, those that declare Latin-1 use Windows' characters as well."""
    if encoding == "bom":
        return b"\xef\xbb\xbf" + html.encode("utf-8")
    codec = "cp1252" if encoding in ("latin-1", "cp1252", "undeclared") else "utf-8"
    return html.encode(codec, "xmlcharrefreplace")
