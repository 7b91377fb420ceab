"""A wrapper as an XSLT 1.0 stylesheet, which any stock processor applies to a page of its cluster.

`xsltproc --html c1.xsl page.html` gives `<record><name>…</name>…</record>`: one element for each value, its text as
`Rules.extract` gives it. Selectors are tried in order and the committee votes as in `apply`. What XSLT 1.0 cannot do
is left out and named in a comment: rules with a classifier, ranges that look for a type by regular expression, and
all rules of list pages, which are those of a record that is a page of its own. What needs Python is left to it:
choosing the wrapper of a page, typed data, confidences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lxml import etree
from lxml.builder import ElementMaker

from untemplate.page import HIDDEN_TAGS, INLINE_TAGS
from untemplate.rules.ranges import Range
from untemplate.rules.rule import Rule, Selector, Wrapper
from untemplate.rules.xpath import SEPARATOR, literal
from untemplate.schema import Attribute, Schema
from untemplate.value_types import TYPES

__all__ = ["OF_LISTS", "not_exportable", "wrapper_xslt"]

_XSLT = "http://www.w3.org/1999/XSL/Transform"
_xsl = ElementMaker(namespace=_XSLT, nsmap={"xsl": _XSLT})
_plain = ElementMaker()

OF_LISTS = "the rule is one of list pages: extract them with untemplate"
"""Why the rules of a wrapper with a record rule cannot be expressed."""

# What XML, and so a stylesheet, cannot hold.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_HIDDEN = " or ".join(f"ancestor::{tag}" for tag in sorted(HIDDEN_TAGS))
# White space to Python but not to XML; digits of the basic plane, which is where pages have theirs.
_SPACES = "".join(char for char in map(chr, range(0x80, 0x3001)) if char.isspace())
_DIGITS = "".join(char for char in map(chr, range(0x10000)) if char.isdigit())

_SQUEEZED = "normalize-space(translate(., $spaces, $blanks))"
_VISIBLE = f"[{_SQUEEZED} != ''][not({_HIDDEN})]"
# Values are lines: a squeezed text has no line feed, so the first value is what stands before the first one.
_LINE = "\n"

# Where the nth blank of a text stands, by halving: texts of any length stay within a processor's depth.
_NTH_BLANK = f"""
<xsl:template name="nth-blank" xmlns:xsl="{_XSLT}">
  <xsl:param name="text"/><xsl:param name="n"/><xsl:param name="offset" select="0"/>
  <xsl:variable name="half" select="floor(string-length($text) div 2)"/>
  <xsl:variable name="left" select="substring($text, 1, $half)"/>
  <xsl:variable name="blanks" select="$half - string-length(translate($left, ' ', ''))"/>
  <xsl:choose>
    <xsl:when test="$half = 0"><xsl:value-of select="$offset + 1"/></xsl:when>
    <xsl:when test="$n &lt;= $blanks">
      <xsl:call-template name="nth-blank">
        <xsl:with-param name="text" select="$left"/>
        <xsl:with-param name="n" select="$n"/>
        <xsl:with-param name="offset" select="$offset"/>
      </xsl:call-template>
    </xsl:when>
    <xsl:otherwise>
      <xsl:call-template name="nth-blank">
        <xsl:with-param name="text" select="substring($text, $half + 1)"/>
        <xsl:with-param name="n" select="$n - $blanks"/>
        <xsl:with-param name="offset" select="$offset + $half"/>
      </xsl:call-template>
    </xsl:otherwise>
  </xsl:choose>
</xsl:template>
"""


def wrapper_xslt(wrapper: Wrapper, schema: Schema) -> str:
    """The stylesheet of a wrapper; the same wrapper always gives the same text."""
    record = _plain.record(_text(_LINE))
    sheet = _xsl.stylesheet(
        etree.Comment(_commented(f"cluster {wrapper.cluster} of {schema.name}, by untemplate rules xslt")),
        _xsl.output(method="xml", encoding="UTF-8"),
        _xsl.variable(name="spaces", select=literal(_SPACES)),
        _xsl.variable(name="blanks", select=literal(" " * len(_SPACES))),
        _xsl.variable(name="digits", select=literal(_DIGITS)),
        _xsl.variable(name="static", select=literal(_static(wrapper))),
        _xsl.template(record, match="/"),
        version="1.0",
    )
    for number, (name, rule) in enumerate(wrapper.rules.items(), 1):
        if reason := (OF_LISTS if wrapper.records else not_exportable(rule)):
            record.append(_xsl.comment(_commented(f"{name}: not exported, {reason}")))
            record.append(_text(_LINE))
            continue
        record.append(_xsl("call-template", name=f"rule-{number}"))
        sheet.append(etree.Comment(_commented(name)))
        sheet.append(_rule(rule, schema.attributes[name], number))
        sheet.append(_value(rule, schema.attributes[name], number))
    sheet.append(etree.fromstring(_NTH_BLANK))
    sheet.extend(_text_templates())
    etree.indent(sheet)
    return str(etree.tostring(sheet, encoding="unicode")) + "\n"


def not_exportable(rule: Rule) -> str | None:
    """Why XSLT 1.0 cannot express a rule; None if it can."""
    if rule.classifier is not None:
        return "the rule needs a classifier"
    if rule.range is not None and rule.range.type is not None:
        return f"the rule looks for a {rule.range.type} by regular expression"
    if any(_NOT_XML.search(selector.xpath) for selector in (*rule.selectors, *rule.committee)):
        return "the rule names characters that XML does not allow"
    return None


def _static(wrapper: Wrapper) -> str:
    """The wrapper's static texts as the XPaths of labels look for them."""
    keys = [key for key in wrapper.static if not _NOT_XML.search(key)]
    return SEPARATOR + SEPARATOR.join(keys) + SEPARATOR


def _rule(rule: Rule, attribute: Attribute, number: int) -> etree._Element:
    """The template that writes the values of one attribute: selectors in order, then the committee."""
    template = _xsl.template(name=f"rule-{number}")
    place = template
    for index, selector in enumerate(rule.selectors, 1):
        name = f"selected-{index}"
        place.append(_lines(selector, number, name))
        found = _xsl.when(*_written(attribute, name), test=f"string(${name})")
        otherwise = _xsl.otherwise()
        place.append(_xsl.choose(found, otherwise))
        place = otherwise
    place.extend(_vote(rule.committee, attribute, number))
    if not len(place):
        choice = place.getparent()
        assert choice is not None
        choice.remove(place)
    return template


def _vote(committee: Sequence[Selector], attribute: Attribute, number: int) -> Iterator[etree._Element]:
    """What more than half of the committee, by weight, finds, or two members that look at different nodes."""
    total = sum(member.weight for member in committee)
    if not total:
        return
    choose = _xsl.choose()
    for index, member in enumerate(committee, 1):
        yield _lines(member, number, f"member-{index}")
        yield _xsl.variable(name=f"first-{index}", select=_first(f"member-{index}"))
        votes = " + ".join(
            f"{other.weight / total:.9f} * ($first-{place} = $first-{index})"
            for place, other in enumerate(committee, 1)
        )
        others = [place for place, other in enumerate(committee, 1) if other.node != member.node]
        agreeing = "".join(f" or $first-{place} = $first-{index}" for place in others)
        test = f"$first-{index} != '' and ({votes} > 0.5{agreeing})"
        choose.append(_xsl.when(*_written(attribute, f"member-{index}"), test=test))
    yield choose


def _lines(selector: Selector, number: int, name: str) -> etree._Element:
    """A variable with an element and a line feed for each value that a selector finds."""
    each = _xsl("for-each", _xsl("call-template", name=f"value-{number}"), select=selector.xpath + _VISIBLE)
    return _xsl.variable(each, name=name)


def _first(lines: str) -> str:
    return f"substring-before(${lines}, {literal(_LINE)})"


def _written(attribute: Attribute, lines: str) -> Iterator[etree._Element]:
    """All values of such a variable, or the first."""
    if attribute.many:
        yield _xsl("copy-of", select=f"${lines}")
    else:
        yield _element(attribute.name, _xsl("value-of", select=_first(lines)))
        yield _text(_LINE)


def _value(rule: Rule, attribute: Attribute, number: int) -> etree._Element:
    """The template that writes the value which begins at the current node, if it is one."""
    template = _xsl.template(*_whole(rule), name=f"value-{number}")
    name = "whole"
    if rule.range is not None:
        template.extend(_part(rule.range))
        name = "part"
    test = f"string(${name})"
    required = TYPES[attribute.type].required if rule.typed else None
    if required == "digit":
        test = f"translate(${name}, $digits, '') != string(${name})"
    elif required:
        test = f"contains(${name}, '{required}')"
    element = _element(attribute.name, _xsl("value-of", select=f"${name}"))
    template.append(_xsl("if", element, _text(_LINE), test=test))
    return template


def _whole(rule: Rule) -> Iterator[etree._Element]:
    """The text that the value is in, as a variable: the node's, an element's, or that of several nodes."""
    if rule.selectors[0].node == "element()":
        yield _xsl.variable(_xsl("apply-templates", select=".", mode="text"), name="raw")
        yield _xsl.variable(name="whole", select="normalize-space(translate($raw, $spaces, $blanks))")
        return
    elif rule.nodes > 1:
        is_attribute = rule.selectors[0].node.startswith("@")
        after = "(..//text()|../following::text())" if is_attribute else "following::text()"
        following = f"{after}{_VISIBLE}[position() < {rule.nodes}]"
        yield _xsl.variable(_squeezed_texts("."), _squeezed_texts(following), name="texts")
    else:
        yield _xsl.variable(name="whole", select=_SQUEEZED)
        return
    yield _xsl.variable(name="whole", select="normalize-space($texts)")


def _text_templates() -> Iterator[etree._Element]:
    """All visible text of an element, as `visible_text` gives it: only blocks and line breaks part words."""
    inside = _xsl("apply-templates", mode="text")
    yield _xsl.template(_text(" "), inside, _text(" "), match="*", mode="text")
    inline = "|".join(sorted(INLINE_TAGS))
    yield _xsl.template(_xsl("apply-templates", mode="text"), match=inline, mode="text")
    yield _xsl.template(match="|".join([*sorted(HIDDEN_TAGS), "comment()"]), mode="text")


def _squeezed_texts(nodes: str) -> etree._Element:
    return _xsl("for-each", _xsl("value-of", select=f"concat({_SQUEEZED}, ' ')"), select=nodes)


def _part(range_: Range) -> Iterator[etree._Element]:
    """The part of the whole that is the value, as a variable; empty if there is no such part."""
    if range_.start is None:
        part = "$whole"
        if range_.after:
            part = f"substring-after({part}, {literal(range_.after)})"
        if range_.before:
            part = f"substring-before({part}, {literal(range_.before)})"
        yield _xsl.variable(name="part", select=f"normalize-space({part})")
        return
    yield _xsl.variable(
        name="count", select="string-length($whole) - string-length(translate($whole, ' ', '')) + 1"
    )
    yield _xsl.variable(name="from", select=_index(range_.start))
    yield _xsl.variable(name="to", select=_index(range_.stop) if range_.stop else "$count")
    yield _xsl.variable(_nth_blank("from"), name="start")
    yield _xsl.variable(_nth_blank("to"), name="end")
    # Before the first token and after the last there is no blank.
    start = "number($start) * ($from > 0)"
    end = "number($end) * ($to < $count) + (string-length($whole) + 1) * ($to >= $count)"
    part = f"substring($whole, {start} + 1, {end} - {start} - 1)"
    yield _xsl.variable(_xsl("if", _xsl("value-of", select=part), test="$from < $to"), name="part")


def _index(offset: int) -> str:
    """A token offset counted from the start, negative ones from the end, as in a Python slice."""
    if offset >= 0:
        return str(offset)
    return f"($count - {-offset}) * ($count > {-offset})"


def _nth_blank(variable: str) -> etree._Element:
    return _xsl(
        "call-template",
        _xsl("with-param", name="text", select="$whole"),
        _xsl("with-param", name="n", select=f"${variable}"),
        name="nth-blank",
    )


def _element(attribute: str, content: etree._Element) -> etree._Element:
    """The element of a value; an attribute whose name no element can have is named by an XML attribute."""
    if _NAME.fullmatch(attribute):
        return _plain(attribute, content)
    return _plain.value(content, attribute=_NOT_XML.sub("\ufffd", attribute))


def _text(text: str) -> etree._Element:
    return _xsl.text(text)


def _commented(text: str) -> str:
    """The text as the content of a comment, in which two dashes must not meet."""
    allowed = _NOT_XML.sub("\ufffd", text)
    return f" {re.sub('-(?=-)', '- ', allowed)} "
