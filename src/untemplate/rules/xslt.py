"""A wrapper as an XSLT 1.0 stylesheet, which any stock processor applies to a page of its cluster.

`xsltproc --html c1.xsl page.html` writes `<record><name>…</name>…</record>`: one element for each value, with the
same text as `Rules.extract`. Selectors are tried in order and the committee votes as in `applying`.

What XSLT 1.0 cannot express is left out and named in a comment: rules with a classifier, ranges that search for a
type by regular expression or split a text into several values, embedded data, and all rules of list pages, which
apply to records as pages of their own. Of a rule that also selects nodes, that part is exported. That a text has
exactly one value of its type is not tested.
Choosing the wrapper of a page, typed data and confidences remain in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from string import ascii_lowercase, ascii_uppercase

from lxml import etree
from lxml.builder import ElementMaker

from untemplate.native.shown_text import HIDDEN_TAGS, HIDING_STYLES, INLINE_TAGS, SAFE_NAME
from untemplate.page.dom import CROSSED_OUT_TAGS
from untemplate.rules.feature import join_static, xpath_literal
from untemplate.rules.ranges import Range
from untemplate.rules.rule import Rule, Selector, Wrapper
from untemplate.schema import Attribute, Schema
from untemplate.value_types import TYPES

__all__ = ["OF_LISTS", "not_exportable", "wrapper_xslt"]

_XSLT = "http://www.w3.org/1999/XSL/Transform"
_xsl = ElementMaker(namespace=_XSLT, nsmap={"xsl": _XSLT})
_no_namespace = ElementMaker()

OF_LISTS = "the rule is one of list pages: extract them with untemplate"
"""Why the rules of a wrapper with a record rule cannot be exported."""

WITHOUT_EMBEDDED = "its embedded data is not read: only what the page shows"
"""What the stylesheet says of a rule that also reads embedded data."""

NOT_VALIDATED = "texts with several values of the type are not left out"
"""What a stylesheet does not check of rules for single typed values."""

# Characters that XML, and so a stylesheet, cannot contain.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HIDDEN = " or ".join(f"ancestor::{tag}" for tag in sorted(HIDDEN_TAGS))
_CROSSED_OUT = " or ".join(f"ancestor-or-self::{tag}" for tag in sorted(CROSSED_OUT_TAGS))
# Whether an element is hidden by an attribute or its style, as by `is_hidden`.
_STYLE = f"concat(';', translate(@style, '{ascii_uppercase} \t\r\n', '{ascii_lowercase}'))"
_HIDES_ITSELF = " or ".join(["@hidden", *(f"contains({_STYLE}, ';{style}')" for style in HIDING_STYLES)])
# White space for Python but not for XML; digits of the basic plane, which are the ones that pages use.
_SPACES = "".join(char for char in map(chr, range(0x80, 0x3001)) if char.isspace())
_DIGITS = "".join(char for char in map(chr, range(0x10000)) if char.isdigit())

_SQUEEZED = "normalize-space(translate(., $spaces, $blanks))"
_VISIBLE = f"[{_SQUEEZED} != ''][not({_HIDDEN})]"
# Whether a line begins between a text and the visible one before it, or a blank text is between them.
_BLOCK = "*[not({})]".format(" or ".join(f"self::{tag}" for tag in sorted(INLINE_TAGS | HIDDEN_TAGS)))
_BEFORE = f"preceding::text(){_VISIBLE}[1]"
_IS_APART = (
    f"generate-id(ancestor::{_BLOCK}[1]) != generate-id({_BEFORE}/ancestor::{_BLOCK}[1])"
    f" or count(preceding::{_BLOCK}) != count({_BEFORE}/preceding::{_BLOCK})"
    f" or generate-id(preceding::text()[not({_HIDDEN})][1]) != generate-id({_BEFORE})"
)
# Values are lines: a squeezed text has no line feed, so the first value ends at the first one.
_LINE_END = "\n"

# Where the nth blank of a text is, found by halving: texts of any length stay within a processor's depth.
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
    """Return the stylesheet of a wrapper. The same wrapper always gives the same text."""
    record = _no_namespace.record(_xsl.text(_LINE_END))
    sheet = _xsl.stylesheet(
        _comment(f"cluster {wrapper.cluster} of {schema.name}, by untemplate rules xslt"),
        _xsl.output(method="xml", encoding="UTF-8"),
        _xsl.variable(name="spaces", select=xpath_literal(_SPACES)),
        _xsl.variable(name="blanks", select=xpath_literal(" " * len(_SPACES))),
        _xsl.variable(name="digits", select=xpath_literal(_DIGITS)),
        _xsl.variable(name="static", select=xpath_literal(_static_variable(wrapper))),
        _xsl.template(record, match="/"),
        version="1.0",
    )
    for number, (name, rule) in enumerate(wrapper.rules.items(), 1):
        reason = OF_LISTS if wrapper.records else not_exportable(rule)
        if reason:
            record.append(_xsl.comment(_comment_text(f"{name}: not exported, {reason}")))
            record.append(_xsl.text(_LINE_END))
            continue
        if rule.embedded:
            record.append(_xsl.comment(_comment_text(f"{name}: {WITHOUT_EMBEDDED}")))
            record.append(_xsl.text(_LINE_END))
        record.append(_xsl("call-template", name=f"rule-{number}"))
        sheet.append(_comment(f"{name}: {NOT_VALIDATED}" if rule.single else name))
        sheet.append(_rule_template(rule, schema.attributes[name], number))
        sheet.append(_value_template(rule, schema.attributes[name], number))
    sheet.append(etree.fromstring(_NTH_BLANK))
    sheet.extend(_text_templates())
    etree.indent(sheet)
    return str(etree.tostring(sheet, encoding="unicode")) + "\n"


def not_exportable(rule: Rule) -> str | None:
    """Return why XSLT 1.0 cannot express a rule; None if it can."""
    if not rule.selectors:
        return "the rule reads embedded data, which XSLT cannot"
    if rule.classifier is not None:
        return "the rule needs a classifier"
    if rule.range is not None and (reason := _range_not_exportable(rule.range)):
        return reason
    if any(_NOT_XML.search(selector.xpath) for selector in (*rule.selectors, *rule.committee)):
        return "the rule names characters that XML does not allow"
    return None


def _range_not_exportable(range_: Range) -> str | None:
    """Return why XSLT 1.0 cannot cut a value out of its text as a range does; None if it can."""
    if range_.type is not None:
        return f"the rule looks for a {range_.type} by regular expression"
    if range_.separators:
        return "the rule splits a text into several values"
    if range_.last or range_.delimiter != " ":
        return "the rule looks for the last of several delimiters, or counts the parts between them"
    return None


def _static_variable(wrapper: Wrapper) -> str:
    """Return the keys of the wrapper's static texts as the XPaths of captions expect them."""
    keys = [key for key in wrapper.static if not _NOT_XML.search(key)]
    return join_static(keys)


def _rule_template(rule: Rule, attribute: Attribute, number: int) -> etree._Element:
    """Return the template that writes the values of one attribute: selectors in order, then the committee.

    Each selector is a choice between its values and everything that comes after it, so it is built from the end.
    """
    content = list(_committee_choice(rule.committee, attribute, number))
    for index in range(len(rule.selectors), 0, -1):
        variable = f"selected-{index}"
        choice = _xsl.choose(_xsl.when(*_write_values(attribute, variable), test=f"string(${variable})"))
        if content:
            choice.append(_xsl.otherwise(*content))
        content = [_values_variable(rule.selectors[index - 1], attribute, number, variable), choice]
    return _xsl.template(*content, name=f"rule-{number}")


def _committee_choice(
    committee: Sequence[Selector], attribute: Attribute, number: int
) -> Iterator[etree._Element]:
    """Yield the values of more than half of the committee, by weight, or of two members for different nodes."""
    total = sum(member.vote_weight for member in committee)
    if not total:
        return
    choose = _xsl.choose()
    for index, member in enumerate(committee, 1):
        yield _values_variable(member, attribute, number, f"member-{index}")
        yield _xsl.variable(name=f"first-{index}", select=_first_value(f"member-{index}"))
        test = _list_test(committee, index) if attribute.many else _majority_test(committee, index, total)
        choose.append(_xsl.when(*_write_values(attribute, f"member-{index}"), test=test))
    yield choose


def _majority_test(committee: Sequence[Selector], index: int, total: float) -> str:
    """Return the test that the first value of a member, counted from 1, wins the vote."""
    mine = f"$first-{index}"
    votes = " + ".join(
        f"{member.vote_weight / total:.9f} * ($first-{other} = {mine})"
        for other, member in enumerate(committee, 1)
    )
    node = committee[index - 1].node
    of_other_nodes = [other for other, member in enumerate(committee, 1) if member.node != node]
    agreeing = "".join(f" or $first-{other} = {mine}" for other in of_other_nodes)
    return f"{mine} != '' and ({votes} > 0.5{agreeing})"


def _list_test(committee: Sequence[Selector], index: int) -> str:
    """Return the test that the values of a member, counted from 1, win the vote among members that find any."""
    mine = f"string($member-{index})"
    numbered = list(enumerate(committee, 1))
    votes = " + ".join(f"{m.vote_weight:.9f} * (string($member-{n}) = {mine})" for n, m in numbered)
    voting = " + ".join(f"{m.vote_weight:.9f} * (string($member-{n}) != '')" for n, m in numbered)
    node = committee[index - 1].node
    of_other_nodes = [number for number, member in numbered if member.node != node]
    agreeing = "".join(f" or string($member-{number}) = {mine}" for number in of_other_nodes)
    return f"{mine} != '' and (2 * ({votes}) > {voting}{agreeing})"


def _values_variable(selector: Selector, attribute: Attribute, number: int, name: str) -> etree._Element:
    """Return a variable with an element and a line feed for each value that a selector finds.

    Where one value is wanted, those that are crossed out come last.
    """
    path = selector.xpath + _VISIBLE
    paths = [path] if attribute.many else [f"{path}[not({_CROSSED_OUT})]", f"{path}[{_CROSSED_OUT}]"]
    variable = _xsl.variable(name=name)
    for select in paths:
        variable.append(_xsl("for-each", _xsl("call-template", name=f"value-{number}"), select=select))
    return variable


def _first_value(variable: str) -> str:
    """Return an expression for the first of the values in a variable."""
    return f"substring-before(${variable}, {xpath_literal(_LINE_END)})"


def _write_values(attribute: Attribute, variable: str) -> Iterator[etree._Element]:
    """Yield what writes all values of such a variable for a `many` attribute, else the first."""
    if attribute.many:
        yield _xsl("copy-of", select=f"${variable}")
    else:
        yield _value_element(attribute.name, _xsl("value-of", select=_first_value(variable)))
        yield _xsl.text(_LINE_END)


def _value_template(rule: Rule, attribute: Attribute, number: int) -> etree._Element:
    """Return the template that writes the value which begins at the current node, if there is one."""
    template = _xsl.template(*_text_variables(rule), name=f"value-{number}")
    variable = "whole"
    if rule.range is not None:
        template.extend(_range_variables(rule.range))
        variable = "part"
    element = _value_element(attribute.name, _xsl("value-of", select=f"${variable}"))
    test = _allowed_test(rule, attribute, variable)
    template.append(_xsl("if", element, _xsl.text(_LINE_END), test=test))
    return template


def _allowed_test(rule: Rule, attribute: Attribute, variable: str) -> str:
    """Return the test that a text can be a value: some types require a digit or a character."""
    required = TYPES[attribute.type].required if rule.typed else None
    if required == "digit":
        return f"translate(${variable}, $digits, '') != string(${variable})"
    if required:
        return f"contains(${variable}, '{required}')"
    return f"string(${variable})"


def _text_variables(rule: Rule) -> Iterator[etree._Element]:
    """Yield the variable `whole`, the text that contains the value, and one that it needs.

    It is the text of a node, of an element, or of several nodes.
    """
    node = rule.selectors[0].node
    if node == "element()":
        yield _xsl.variable(_xsl("apply-templates", select="node()", mode="text"), name="raw")
        yield _xsl.variable(name="whole", select="normalize-space(translate($raw, $spaces, $blanks))")
    elif rule.nodes > 1:
        after = "(..//text()|../following::text())" if node.startswith("@") else "following::text()"
        following = f"{after}{_VISIBLE}[position() < {rule.nodes}]"
        yield _xsl.variable(*_joined_texts(following, node), name="texts")
        yield _xsl.variable(name="whole", select="normalize-space(translate($texts, $spaces, $blanks))")
    else:
        yield _xsl.variable(name="whole", select=_SQUEEZED)


def _text_templates() -> Iterator[etree._Element]:
    """Yield templates for the visible text of an element, as by `visible_text`: blocks and breaks separate words."""
    inside = _xsl("apply-templates", mode="text")
    yield _xsl.template(_xsl.text(" "), inside, _xsl.text(" "), match="*", mode="text")
    inline = "|".join(sorted(INLINE_TAGS))
    yield _xsl.template(_xsl("apply-templates", mode="text"), match=inline, mode="text")
    yield _xsl.template(match="|".join([*sorted(HIDDEN_TAGS), "comment()"]), mode="text")
    yield _xsl.template(match=f"*[{_HIDES_ITSELF}]", mode="text")


def _joined_texts(following: str, node: str) -> Iterator[etree._Element]:
    """Yield what writes the text of this node and of those that follow, with blanks as by `join_texts`."""
    yield _xsl("value-of", select="." if node == "text()" else "concat(., ' ')")
    is_apart = _xsl("if", _xsl.text(" "), test=_IS_APART)
    yield _xsl("for-each", is_apart, _xsl("value-of", select="."), select=following)


def _range_variables(range_: Range) -> Iterator[etree._Element]:
    """Yield the variable `part`, the part of the text that is the value, and those it needs.

    It is empty if there is no such part.
    """
    if range_.start is None:
        yield _xsl.variable(name="part", select=f"normalize-space({_between_delimiters(range_)})")
        return
    yield _xsl.variable(
        name="count", select="string-length($whole) - string-length(translate($whole, ' ', '')) + 1"
    )
    yield _xsl.variable(name="from", select=_token_index(range_.start))
    yield _xsl.variable(name="to", select=_token_index(range_.stop) if range_.stop else "$count")
    yield _xsl.variable(_find_nth_blank("from"), name="start")
    yield _xsl.variable(_find_nth_blank("to"), name="end")
    # There is no blank before the first token, and none after the last.
    start = "number($start) * ($from > 0)"
    end = "number($end) * ($to < $count) + (string-length($whole) + 1) * ($to >= $count)"
    part = f"substring($whole, {start} + 1, {end} - {start} - 1)"
    yield _xsl.variable(_xsl("if", _xsl("value-of", select=part), test="$from < $to"), name="part")


def _between_delimiters(range_: Range) -> str:
    """Return an expression for the part of the text between the delimiters; empty if one is missing."""
    part = "$whole"
    if range_.after:
        part = f"substring-after({part}, {xpath_literal(range_.after)})"
    if range_.before:
        part = f"substring-before({part}, {xpath_literal(range_.before)})"
    return part


def _token_index(offset: int) -> str:
    """Return a token offset counted from the start; negative ones count from the end, as in a Python slice."""
    if offset >= 0:
        return str(offset)
    return f"($count - {-offset}) * ($count > {-offset})"


def _find_nth_blank(variable: str) -> etree._Element:
    """Return the call that finds the position of a blank, whose number is in this variable."""
    return _xsl(
        "call-template",
        _xsl("with-param", name="text", select="$whole"),
        _xsl("with-param", name="n", select=f"${variable}"),
        name="nth-blank",
    )


def _value_element(attribute: str, content: etree._Element) -> etree._Element:
    """Return the element of a value, named after the attribute or, if XML forbids that, `<value attribute=…>`."""
    if SAFE_NAME.fullmatch(attribute):
        return _no_namespace(attribute, content)
    return _no_namespace.value(content, attribute=_NOT_XML.sub("\ufffd", attribute))


def _comment(text: str) -> etree._Element:
    return etree.Comment(_comment_text(text))


def _comment_text(text: str) -> str:
    """Return the text as the content of a comment, in which two dashes must not meet."""
    allowed = _NOT_XML.sub("\ufffd", text)
    return f" {re.sub('-(?=-)', '- ', allowed)} "
