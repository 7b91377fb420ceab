"""Rules for other tools: Python code with parsel, a Scrapy item loader, a schema of crawl4ai, or plain CSS.

Each export is made from the expressions of `portable.py`: the selectors of a rule in their order, and a regular
expression that cuts the value out of a text. What an export cannot express is named, for each attribute and for all
(`LEFT_TO_UNTEMPLATE`). Where nothing is named for an attribute, the export gives the same values wherever one of its
selectors finds any.

crawl4ai takes the last field of a name that finds something, so its fields are in reverse order. It returns texts as
they are written, with their white space.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pprint import pformat
from typing import Any, Literal

from untemplate.page.dom import HIDDEN_TAGS, INLINE_TAGS
from untemplate.rules.feature import join_static
from untemplate.rules.in_words import explain_embedded, explain_rule
from untemplate.rules.portable import (
    PortableSelector,
    portable_records,
    portable_rule,
    portable_selectors,
    static_literal,
)
from untemplate.rules.rule import Rule, Wrapper
from untemplate.rules.value_range import Range
from untemplate.schema import Attribute, Schema

__all__ = ["LEFT_TO_UNTEMPLATE", "TARGETS", "Export", "Target", "export_wrapper", "value_pattern"]

Target = Literal["parsel", "scrapy", "crawl4ai", "css"]

TARGETS: Mapping[Target, str] = {"parsel": ".py", "scrapy": ".py", "crawl4ai": ".json", "css": ".json"}
"""What rules can be exported to, with the ending of the files."""

LEFT_TO_UNTEMPLATE = (
    "which template a page is made from",
    "the vote of other selectors where none of these finds a value, and the confidence that they give",
    "passing over texts that are crossed out, such as former prices",
    "typed data, absolute addresses, watching and healing",
)
"""What no export expresses."""

# How an XPath of the first of several nodes ends.
FIRST_NODE = ")[1]"
# Characters of the words of a template that every XPath of a schema repeats: more are hard to carry around.
MAX_STATIC_LENGTH = 4000

_ANY = r"[\s\S]"


@dataclass(frozen=True, slots=True)
class Export:
    """The rules of one template for another tool.

    Attributes:
        text: the content of the file.
        lost: attribute → what is lost of its rule, in words; nothing if the export is the same.
        missing: attribute → why it is not in the export.
    """

    text: str
    lost: Mapping[str, tuple[str, ...]]
    missing: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Field:
    """An attribute of an export."""

    attribute: Attribute
    words: str
    selectors: tuple[PortableSelector, ...]
    pattern: str
    separators: tuple[str, ...]
    lost: tuple[str, ...]


def export_wrapper(wrapper: Wrapper, schema: Schema, target: Target) -> Export:
    """Return the rules of a template for another tool.

    Args:
        wrapper: the rules.
        schema: their attributes.
        target: the tool.

    Example:
        >>> import untemplate as ut
        >>> pages = [ut.Page(id=str(n), html=f"<h1 class=t>Lamp {n}</h1><p>${n}</p>") for n in range(4)]
        >>> rules = ut.learn(pages, [ut.Label("1", "name", "Lamp 1")])
        >>> export = export_wrapper(rules.wrappers[0], rules.schema, "crawl4ai")
        >>> json.loads(export.text)["baseSelector"], dict(export.missing)
        ('//html', {})
    """
    if target == "css":
        return _export_css(wrapper, schema)
    fields: list[_Field] = []
    missing: dict[str, str] = {}
    for name, rule in wrapper.rules.items():
        field = _make_export_field(rule, schema.attributes[name], wrapper, target)
        if isinstance(field, str):
            missing[name] = field
        else:
            fields.append(field)
    if wrapper.records and target != "crawl4ai":
        missing |= {field.attribute.name: "a rule of list pages" for field in fields}
        fields = []
    write = _WRITERS[target]
    lost = {field.attribute.name: field.lost for field in fields}
    return Export(write(wrapper, schema, fields, missing), lost, missing)


def _make_export_field(rule: Rule, attribute: Attribute, wrapper: Wrapper, target: Target) -> _Field | str:
    """Return an attribute for an export, or why it cannot be exported."""
    if not rule.selectors:
        return "the rule reads embedded data"
    range_ = rule.range or Range()
    pattern = value_pattern(range_)
    if pattern is None:
        return f"the rule looks for a {range_.type} in the text"
    if range_.separators and target == "crawl4ai":
        return "the rule splits a text into several values"
    selectors = portable_selectors(rule, wrapper, _static_expression(wrapper, target))
    if target == "crawl4ai":
        selectors = _crawl4ai_selectors(selectors, attribute.many)
    if not selectors:
        return "no selector of the rule can be written as XPath without variables"
    lost = dict.fromkeys(_find_lost(rule, attribute, selectors, target))
    return _Field(attribute, explain_rule(rule), tuple(selectors), pattern, range_.separators, tuple(lost))


def _crawl4ai_selectors(selectors: Sequence[PortableSelector], many: bool) -> list[PortableSelector]:
    """Return the selectors that crawl4ai can evaluate.

    Of a list it can use one: the empty list of another selector would replace its values.
    """
    relative = [_without_parenthesis(selector, many) for selector in selectors]
    usable = [selector for selector in relative if not selector.expression.startswith("(")]
    return usable[:1] if many else usable


def _static_expression(wrapper: Wrapper, target: Target) -> str | None:
    """Return the words of the template as an XPath expression: a variable in code; None if they are too many."""
    if target != "crawl4ai":
        return "$static"
    literal = static_literal(wrapper)
    return literal if len(literal) <= MAX_STATIC_LENGTH else None


def _without_parenthesis(selector: PortableSelector, many: bool) -> PortableSelector:
    """Return a selector of the page that chooses one node by its position, for crawl4ai.

    crawl4ai writes a dot in front of an XPath, which may not begin with a parenthesis then. So every node of the kind
    is compared with the chosen one. It takes the first node of a single value itself.

    >>> _without_parenthesis(PortableSelector("(//b/text())[2]", "xpath", "text()"), False).expression
    './/text()[count(. | (//b/text())[2]) = count((//b/text())[2])]'
    >>> _without_parenthesis(PortableSelector("(//b/text())[1]", "xpath", "text()"), False).expression
    '//b/text()'
    """
    chosen = selector.expression
    if not chosen.startswith("(/"):
        return selector
    if chosen.endswith(FIRST_NODE) and not many:
        return replace(selector, expression=chosen[1 : -len(FIRST_NODE)])
    node = "*" if selector.node == "element()" else selector.node
    return replace(selector, expression=f".//{node}[count(. | {chosen}) = count({chosen})]")


def _find_lost(
    rule: Rule, attribute: Attribute, selectors: Sequence[PortableSelector], target: Target
) -> Iterator[str]:
    """Yield in words what is lost of a rule besides what every export loses."""
    if rule.embedded:
        yield f"{explain_embedded(rule.embedded[0])}, which the rule reads first"
    if rule.classifier is not None:
        yield "the choice of the likeliest of several nodes"
    if rule.nodes > 1:
        yield f"the texts after it, {rule.nodes} nodes in all, which are part of the value"
    yield from _find_lost_tests(rule, attribute)
    if len(selectors) < len(rule.selectors):
        yield f"{len(rule.selectors) - len(selectors)} of {len(rule.selectors)} selectors"
    if target == "crawl4ai" and any(selector.node == "element()" for selector in selectors):
        yield "blanks between the blocks of an element, and that hidden parts have no text"
    for selector in selectors:
        yield from selector.left_out


def _find_lost_tests(rule: Rule, attribute: Attribute) -> Iterator[str]:
    """Yield in words the tests of a value that no export does."""
    if rule.typed and attribute.type != "text":
        yield f"the test that the text is of type {attribute.type}"
    if rule.look is not None:
        yield "the test that a list looks like the labeled ones"
    if attribute.pattern:
        yield f"the test that the text matches {attribute.pattern}"


def value_pattern(range_: Range) -> str | None:
    """Return a regular expression whose first group is the value in a text; None for values that are found by type.

    A blank in a delimiter matches any white space, since texts outside of untemplate are as they are written.

    >>> re.search(value_pattern(Range(after="Price: ", before=" each")), " Price:  $3 \\n each ")[1]
    '$3'
    >>> re.search(value_pattern(Range(start=-2, stop=-1)), "Utica, NY 13501")[1]
    'NY'
    """
    if range_.type is not None:
        return None
    if range_.start is not None:
        return _token_pattern(range_.start, range_.stop or 0, range_.delimiter)
    return _delimited_pattern(
        _delimiter_pattern(range_.after), _delimiter_pattern(range_.before), range_.last
    )


def _delimited_pattern(after: str, before: str, last: bool) -> str:
    """Return the pattern of a value between two delimiters, either of which may be empty."""
    end = rf"\s*{before}" if before else r"\s*$"
    if last and before:
        inside = rf"(?:(?!{before}){_ANY})*"
        return rf"^{inside}{after}\s*({inside}?){end}"
    anything = f"{_ANY}*" if last else f"{_ANY}*?"
    start = f"^{anything}{after}" if after else "^"
    return rf"{start}\s*({_ANY}*?){end}"


def _delimiter_pattern(text: str | None) -> str:
    if not text:
        return ""
    return r"\s+".join(map(re.escape, text.split())) or r"\s+"


def _token_pattern(start: int, stop: int, delimiter: str) -> str:
    """Return the pattern of some tokens; those after the last one are counted from the end of the text."""
    separator = r"\s+" if delimiter == " " else re.escape(delimiter)
    token = r"\S+" if delimiter == " " else f"(?:(?!{separator}){_ANY})*"
    following = f"{separator}{token}"
    if start >= 0 and stop > 0:
        return rf"^\s*(?:{token}{separator}){{{start}}}({token}(?:{following}){{0,{stop - start - 1}}})"
    if start >= 0:
        return (
            rf"^\s*(?:{token}{separator}){{{start}}}({token}(?:{following})*?)(?:{following}){{{-stop}}}\s*$"
        )
    count = -start + stop
    return rf"({token}(?:{following}){{{count - 1}}})(?:{following}){{{-stop}}}\s*$"


# Python

_HELPERS = '''\
INLINE = frozenset({inline})
HIDDEN = frozenset({hidden})


def text_of(element):
    """Return the text of an element as readers see it: blocks separate words, hidden parts are left out."""
    parts = [element.text or ""]
    for child in element:
        style = (child.get("style") or "").replace(" ", "").lower()
        is_hidden = child.tag in HIDDEN or child.get("hidden") is not None or "display:none" in style
        if isinstance(child.tag, str) and not is_hidden:
            blank = "" if child.tag in INLINE else " "
            parts.append(blank + text_of(child) + blank)
        parts.append(child.tail or "")
    return "".join(parts)


def values_at(page, xpath, kind, pattern, separators):
    """Return the values at the nodes that an XPath selects."""
    nodes = page.xpath(xpath, static=STATIC)
    texts = [text_of(node.root) for node in nodes] if kind == "element()" else nodes.getall()
    matches = [re.search(pattern, " ".join(text.split())) for text in texts]
    values = [match[1].strip() for match in matches if match and match[1].strip()]
    if separators and values:
        parts = re.split("|".join(map(re.escape, sorted(separators, key=len, reverse=True))), values[0])
        return [part.strip() for part in parts if part.strip()]
    return values


def find(page, name):
    """Return the values of an attribute: of the first selector that finds any."""
    rule = RULES[name]
    for xpath, kind in rule["selectors"]:
        values = values_at(page, xpath, kind, rule["pattern"], rule["separators"])
        if values:
            return values if rule["many"] else values[:1]
    return []
'''

_PARSEL = '''\
"""Records of {title}: {url_pattern}

Written by untemplate rules export --to parsel.
{notes}
"""

import re

from parsel import Selector

# name → selectors in the order in which they are tried, and how the value is cut out of the text
RULES = {rules}

# the words of the template, each with the depth and tag of its element: captions are found by them
STATIC = {static}

{helpers}

def extract(html):
    """Return the record of a page: attribute → values."""
    page = Selector(html)
    return {{name: find(page, name) for name in RULES}}
'''

_SCRAPY = '''\
"""Items of {title}: {url_pattern}

Written by untemplate rules export --to scrapy. In a spider: yield load_item(response)
{notes}
"""

import re

import scrapy
from itemloaders.processors import Identity
from scrapy.loader import ItemLoader

# name → selectors in the order in which they are tried, and how the value is cut out of the text
RULES = {rules}

# the words of the template, each with the depth and tag of its element: captions are found by them
STATIC = {static}

{helpers}

Record = type("Record", (scrapy.Item,), {{name: scrapy.Field() for name in RULES}})


class RecordLoader(ItemLoader):
    default_item_class = Record
    default_output_processor = Identity()


def load_item(response):
    """Return the item of a page: attribute → values."""
    loader = RecordLoader(response=response)
    for name in RULES:
        loader.add_value(name, find(response, name))
    return loader.load_item()
'''


def _write_python(
    template: str, wrapper: Wrapper, schema: Schema, fields: Sequence[_Field], missing: Mapping[str, str]
) -> str:
    rules = {
        field.attribute.name: {
            "selectors": [(selector.expression, selector.node) for selector in field.selectors],
            "pattern": field.pattern,
            "separators": list(field.separators),
            "many": field.attribute.many,
        }
        for field in fields
    }
    helpers = _HELPERS.replace("{inline}", pformat(sorted(INLINE_TAGS), width=110, compact=True))
    helpers = helpers.replace("{hidden}", repr(sorted(HIDDEN_TAGS)))
    notes = "\n".join(_python_comment(line) for line in _export_notes(fields, missing))
    return template.format(
        title=_python_comment(f"{schema.name}, template {wrapper.cluster}"),
        url_pattern=_python_comment(wrapper.url_pattern),
        notes=notes,
        rules=pformat(rules, width=110, sort_dicts=False),
        static=pformat(join_static(wrapper.static), width=110),
        helpers=helpers,
    )


def _python_comment(text: str) -> str:
    """Return a text that can neither end a docstring nor escape from it."""
    return " ".join(text.split()).replace("\\", "/").replace('"""', "'''")


def _export_notes(fields: Sequence[_Field], missing: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for everything that the export does not express."""
    yield f"Left to untemplate: {'; '.join(LEFT_TO_UNTEMPLATE)}."
    for field in fields:
        yield f"{field.attribute.name}: {field.words}."
        yield from (f"{field.attribute.name}, lost: {words}." for words in field.lost)
    for name, why in missing.items():
        yield f"{name}: not exported, {why}."


def _write_parsel(
    wrapper: Wrapper, schema: Schema, fields: Sequence[_Field], missing: Mapping[str, str]
) -> str:
    return _write_python(_PARSEL, wrapper, schema, fields, missing)


def _write_scrapy(
    wrapper: Wrapper, schema: Schema, fields: Sequence[_Field], missing: Mapping[str, str]
) -> str:
    return _write_python(_SCRAPY, wrapper, schema, fields, missing)


# crawl4ai


def _write_crawl4ai(
    wrapper: Wrapper, schema: Schema, fields: Sequence[_Field], missing: Mapping[str, str]
) -> str:
    """Return a schema for JsonXPathExtractionStrategy."""
    base = portable_records(wrapper.records) if wrapper.records else None
    content = {
        "name": f"{schema.name} {wrapper.cluster}",
        "baseSelector": base.expression if base else "//html",
        "fields": [entry for field in fields for entry in _crawl4ai_fields(field)],
        "notes": list(_export_notes(fields, missing)),
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _crawl4ai_fields(field: _Field) -> Iterator[dict[str, Any]]:
    """Yield a field for each selector, the best last: of several with the same name the last counts."""
    value = {"type": "regex", "pattern": field.pattern, "group": 1}
    for selector in reversed(field.selectors):
        xpath = _relative_to_html(selector.expression)
        if field.attribute.many:
            members = [{"name": "value", **value}]
            yield {
                "name": field.attribute.name,
                "selector": xpath,
                "type": "list",
                "fields": members,
            }
        else:
            yield {"name": field.attribute.name, "selector": xpath, **value}


def _relative_to_html(expression: str) -> str:
    """Return an XPath that crawl4ai can evaluate at the element `html`: it writes a dot in front of a slash.

    >>> _relative_to_html("/html/body/h1/text()")
    './self::html/body/h1/text()'
    """
    return re.sub("^/(?=html)", "./self::", expression)


# CSS


def _export_css(wrapper: Wrapper, schema: Schema) -> Export:
    """Return one CSS selector for each rule that has one, what to take of its elements, and what it leaves out."""
    content: dict[str, Any] = {}
    lost: dict[str, tuple[str, ...]] = {}
    missing: dict[str, str] = {}
    for name, rule in wrapper.rules.items():
        portable = portable_rule(rule, schema.attributes[name], wrapper, "css")
        if portable is None:
            missing[name] = "no condition of the rule is about elements"
            continue
        lost[name] = portable.left_out
        take = portable.node.removeprefix("@") if portable.node.startswith("@") else "text"
        content[name] = {"css": portable.expression, "take": take, "lost": list(portable.left_out)}
    if wrapper.records and (records := portable_records(wrapper.records, "css")):
        content = {"record": records.expression, "fields": content}
    return Export(json.dumps(content, ensure_ascii=False, indent=1) + "\n", lost, missing)


_Writer = Callable[[Wrapper, Schema, Sequence[_Field], Mapping[str, str]], str]

_WRITERS: Mapping[Target, _Writer] = {
    "parsel": _write_parsel,
    "scrapy": _write_scrapy,
    "crawl4ai": _write_crawl4ai,
}
