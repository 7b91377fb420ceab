"""untemplate try: one page, a few values, and at once the rules that find them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import click

from untemplate.cli.shell import examples, json_option, printable, show, show_json
from untemplate.errors import LabelError, SourceError

if TYPE_CHECKING:
    from untemplate.extraction import Rules
    from untemplate.page import Page
    from untemplate.record import Record

__all__ = ["command"]


@click.command(
    "try",
    epilog=examples(
        "untemplate try page.html name='Chez Nous' phone=555-0100",
        "untemplate try https://shop.example/tea/7 name=Assam price='$4.00'",
    ),
)
@click.argument("page_name", metavar="PAGE")
@click.argument("values", metavar="NAME=VALUE...", nargs=-1, required=True)
@json_option
def command(page_name: str, values: tuple[str, ...], as_json: bool) -> None:
    """Learn from one page where some values are, and show the rules and the record.

    PAGE is an HTML file or a URL. Each VALUE is a text as the page shows it. This is for a first look: with more
    pages of the site, untemplate learn finds rules that also hold on them.
    """
    from untemplate.pipeline import learn

    labels = dict(_parse_value(value) for value in values)
    page = _open_page(page_name)
    rules = learn(page, labels)
    if not any(wrapper.rules for wrapper in rules.wrappers):
        raise LabelError(f"{page_name}: none of the values is a text of the page")
    record = rules.extract_one(page)
    tried = [_try_attribute(name, rules, record) for name in labels]
    if as_json:
        keys = ("value", "rule", "xpath")
        show_json({name: dict(zip(keys, cells, strict=True)) for name, *cells in tried})
        return
    show(f"Record of {page_name}", ("attribute", "value", "rule"), [attribute.cells() for attribute in tried])
    for attribute in tried:
        if attribute.xpath:
            click.echo(printable(f"{attribute.name}: {attribute.xpath}"))


class _TriedAttribute(NamedTuple):
    """What was learned of an attribute: the value that comes out, and the rule in words and as XPath."""

    name: str
    value: str | None = None
    rule: str | None = None
    xpath: str | None = None

    def cells(self) -> tuple[str, str, str]:
        return self.name, self.value or "nothing", self.rule or "no rule: not on this page"


def _try_attribute(name: str, rules: Rules, record: Record) -> _TriedAttribute:
    from untemplate.rules.in_words import explain_rule
    from untemplate.rules.portable import portable_rule

    wrapper = next(wrapper for wrapper in rules.wrappers if wrapper.rules)
    rule = wrapper.rules.get(name)
    if rule is None:
        return _TriedAttribute(name)
    portable = portable_rule(rule, rules.schema.attributes[name], wrapper)
    return _TriedAttribute(name, record[name], explain_rule(rule), portable.expression if portable else None)


def _parse_value(value: str) -> tuple[str, str]:
    name, equals, text = value.partition("=")
    if not equals or not name or not text.strip():
        raise click.UsageError(f"{value}: expected a name and a value, such as name='Chez Nous'.")
    return name, text.strip()


def _open_page(name: str) -> Page:
    """Return the page of a file, or fetch that of a URL.

    Raises:
        SourceError: there is no such page.
    """
    from untemplate.sources import fetch_pages, read_pages

    pages = fetch_pages([name]) if re.match("https?://", name) else read_pages(name)
    page = next(iter(pages), None)
    if page is None:
        raise SourceError(f"{name}: no page could be read")
    return page
