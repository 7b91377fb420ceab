"""untemplate show: a page as readers see it, or as the numbered nodes that a language model sees."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from untemplate.cli.shell import examples, json_option, open_pages, pages_argument, printable, say, show_json
from untemplate.errors import SourceError

if TYPE_CHECKING:
    from untemplate.page import Page
    from untemplate.page.outline import Outline

__all__ = ["command"]

# Pages of the source whose common texts are folded.
MAX_WORD_PAGES = 20


@click.command(
    epilog=examples(
        "untemplate show pages/ --page 7.html",
        "untemplate show pages/ --page 7.html --nodes",
        "untemplate show results.html --nodes --rows",
    )
)
@pages_argument
@click.option("--page", "page_name", help="The id or URL of the page; the first one if not given.")
@click.option("--nodes", is_flag=True, help="Numbered nodes, as a language model sees them.")
@click.option("--rows", is_flag=True, help="With --nodes: as a list page, with the number of each row.")
@click.option("--links", is_flag=True, help="With --nodes: also the targets of links and images.")
@click.option(
    "--budget",
    default=3_000,
    show_default=True,
    type=click.IntRange(min=100),
    help="With --nodes: tokens, at most.",
)
@json_option
def command(
    source: str,
    url_column: str,
    html_column: str,
    render: bool,
    page_name: str | None,
    nodes: bool,
    rows: bool,
    links: bool,
    budget: int,
    as_json: bool,
) -> None:
    """Show the text of a page, or its nodes with their numbers.

    PAGES is any source of pages; see untemplate cluster --help. Texts that other pages of the source share are
    folded: … and two numbers stand for them.
    """
    from untemplate.page.dom import visible_lines

    with open_pages(source, url_column, html_column, render) as pages:
        some_pages = list(islice(pages, MAX_WORD_PAGES))
        page = next((one for one in pages if page_name is None or one.is_named_in({page_name})), None)
    if page is None:
        raise SourceError(f"{source}: no page {page_name or ''}".rstrip())
    if not nodes:
        click.echo("\n".join(printable(line) for line in visible_lines(page.tree).splitlines()))
        return
    outline = _outline_as_asked(page, some_pages, budget, rows, links)
    if as_json:
        show_json(_outline_as_json(page, outline))
        return
    click.echo(outline.text)
    say(f"{len(outline.nodes):,} nodes shown, {outline.folded:,} folded, {outline.tokens:,} tokens.")


def _outline_as_asked(page: Page, pages: list[Page], budget: int, rows: bool, links: bool) -> Outline:
    from untemplate.lists.list_page import find_row_elements
    from untemplate.page.outline import find_site_words, outline_page

    site_words = find_site_words(pages)
    row_elements = find_row_elements(page) if rows else []
    return outline_page(page, site_words, budget, row_elements, links)


def _outline_as_json(page: Page, outline: Outline) -> dict[str, Any]:
    nodes = [
        {"number": node.number, "text": " | ".join(node.texts), "xpath": node.xpath}
        for node in outline.nodes.values()
    ]
    return {
        "page": page.id,
        "url": page.url,
        "nodes": nodes,
        "folded": outline.folded,
        "tokens": outline.tokens,
    }
