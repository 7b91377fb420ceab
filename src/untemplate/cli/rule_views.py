"""What `untemplate rules show` prints: rules in words and XPath, or as expressions for other tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from untemplate.cli.shell import counted, printable, show_json

if TYPE_CHECKING:
    from untemplate.extraction import Rules
    from untemplate.rules import Rule, Selector, Wrapper
    from untemplate.rules.portable import Language
    from untemplate.rules.rule import EmbeddedSelector
    from untemplate.schema import Schema

__all__ = ["show_portable", "show_rules"]


def show_rules(rules: Rules, as_json: bool) -> None:
    """Explain all rules in words and XPath."""
    if as_json:
        show_json([_wrapper_as_json(wrapper) for wrapper in rules.wrappers])
        return
    for line in _explain_rules(rules):
        click.echo(printable(line))


def _explain_rules(rules: Rules) -> Iterator[str]:
    """Yield the lines that `rules show` prints."""
    yield f"Rules for {rules.schema.name}, {counted(len(rules.wrappers), 'cluster')}"
    for wrapper in rules.wrappers:
        yield from ("", f"Cluster {wrapper.cluster}: {wrapper.url_pattern}")
        yield from _explain_wrapper(wrapper)


def _explain_wrapper(wrapper: Wrapper) -> Iterator[str]:
    """Yield the lines about one cluster: where its records are, then each rule with its selectors."""
    from untemplate.rules.in_words import explain_records, explain_rule

    if not wrapper.rules:
        yield "  needs labels"
    if wrapper.records:
        yield f"  records: {explain_records(wrapper.records)}"
        yield from _list_selectors(wrapper.records.selectors)
    for name, rule in wrapper.rules.items():
        yield from ("", f"  {name}: {explain_rule(rule)}")
        yield from _list_embedded(rule.embedded)
        yield from _list_selectors(rule.selectors)
        if rule.committee:
            yield "    confirmed by"
            yield from _list_selectors(rule.committee)


def _list_selectors(selectors: Sequence[Selector]) -> Iterator[str]:
    """Yield two lines for each selector: its support with its words, and its XPath."""
    from untemplate.rules.in_words import explain_selector

    for number, selector in enumerate(selectors, 1):
        yield f"    {number}. {selector.support:4.0%}  {explain_selector(selector)}"
        yield f"             {selector.xpath}"


def _list_embedded(selectors: Sequence[EmbeddedSelector]) -> Iterator[str]:
    """Yield a line for each selector of embedded values."""
    from untemplate.rules.in_words import explain_embedded

    if selectors:
        yield "    embedded data"
    for number, selector in enumerate(selectors, 1):
        yield f"    {number}. {selector.support:4.0%}  {explain_embedded(selector)}"


def _wrapper_as_json(wrapper: Wrapper) -> dict[str, Any]:
    from untemplate.rules.in_words import explain_records

    content = {
        "cluster": wrapper.cluster,
        "url_pattern": wrapper.url_pattern,
        "rules": {name: _rule_as_json(rule) for name, rule in wrapper.rules.items()},
    }
    if wrapper.records:
        content["records"] = {
            "words": explain_records(wrapper.records),
            "selectors": _selectors_as_json(wrapper.records.selectors),
        }
    return content


def _rule_as_json(rule: Rule) -> dict[str, Any]:
    from untemplate.rules.in_words import explain_embedded, explain_rule

    return {
        "words": explain_rule(rule),
        "selectors": _selectors_as_json(rule.selectors),
        "committee": _selectors_as_json(rule.committee),
        "embedded": [
            {"words": explain_embedded(one), "path": str(one.path), "support": one.support}
            for one in rule.embedded
        ],
    }


def _selectors_as_json(selectors: Sequence[Selector]) -> list[dict[str, Any]]:
    from untemplate.rules.in_words import explain_selector

    contents = []
    for selector in selectors:
        words, support = explain_selector(selector), round(selector.support, 3)
        contents.append({"words": words, "xpath": selector.xpath, "support": support})
    return contents


def show_portable(rules: Rules, language: Language, as_json: bool) -> None:
    """Print one expression for each rule, with what it leaves out."""
    contents = [_portable_wrapper(wrapper, rules.schema, language) for wrapper in rules.wrappers]
    if as_json:
        show_json(contents)
        return
    for content in contents:
        click.echo(printable(f"Cluster {content['cluster']}: {content['url_pattern']}"))
        expressions = content["rules"] | ({"records": content["records"]} if "records" in content else {})
        for name, portable in expressions.items():
            _show_expression(name, portable, language)


def _portable_wrapper(wrapper: Wrapper, schema: Schema, language: Language) -> dict[str, Any]:
    from untemplate.rules.portable import portable_records, portable_rule

    content: dict[str, Any] = {"cluster": wrapper.cluster, "url_pattern": wrapper.url_pattern}
    if wrapper.records:
        portable = portable_records(wrapper.records, language)
        content["records"] = portable and asdict(portable)
    content["rules"] = {}
    for name, rule in wrapper.rules.items():
        portable = portable_rule(rule, schema.attributes[name], wrapper, language)
        content["rules"][name] = portable and asdict(portable)
    return content


def _show_expression(name: str, portable: dict[str, Any] | None, language: Language) -> None:
    """Print an expression, what to take of the elements that it selects, and what it leaves out."""
    click.echo(f"\n  {printable(name)}")
    if portable is None:
        click.echo(
            f"    none: the rule has no part that {language.upper() if language == 'css' else 'XPath'} can express"
        )
        return
    # A no-break space is harmless on a terminal, and the expression is another one without it.
    click.echo("    " + "\u00a0".join(map(printable, portable["expression"].split("\u00a0"))))
    if language == "css" and portable["node"].startswith("@"):
        click.echo(printable(f"    take its attribute {portable['node'][1:]}"))
    for words in portable["left_out"]:
        click.echo(printable(f"    without {words}"))
