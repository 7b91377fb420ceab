"""The ways in which sites lay out facts: labels and values, in tables, lists, paragraphs or bare divs."""

from __future__ import annotations

from untemplate.demo.markup import element

__all__ = ["Fact", "lay_out"]

#: the label (may be empty), the value as HTML, and the class of what holds it
Fact = tuple[str, str, str]
Facts = list[Fact]


def lay_out(facts: Facts, kind: str, label: str) -> str:
    """The facts in one of the layouts; `label` is the class of the labels."""
    return _LAYOUTS[kind](facts, label) if facts else ""


def _definitions(facts: Facts, label: str) -> str:
    items = (
        (element("dt", name, class_=label) if name else "") + element("dd", value, class_=class_)
        for name, value, class_ in facts
    )
    return element("dl", "\n".join(items))


def _cells(name: str, value: str, class_: str, label: str) -> str:
    head = element("th", name, class_=label, align="left") if name else ""
    return head + element("td", value, class_=class_, colspan="" if name else "2")


def _table(facts: Facts, label: str) -> str:
    return element("table", "\n".join(element("tr", _cells(*fact, label)) for fact in facts), border="0")


def _grid(facts: Facts, label: str) -> str:
    cells = [_cells(*fact, label) for fact in facts]
    rows = ("".join(cells[start : start + 2]) for start in range(0, len(cells), 2))
    return element("table", "\n".join(element("tr", row) for row in rows))


def _bold(name: str, label: str) -> str:
    return element("b", name, class_=label) + " " if name else ""


def _items(facts: Facts, label: str) -> str:
    items = (element("li", _bold(name, label) + value, class_=class_) for name, value, class_ in facts)
    return element("ul", "\n".join(items))


def _spans(facts: Facts, label: str) -> str:
    items = (
        element(
            "li",
            (element("span", name, class_=label) if name else "") + element("span", value, class_=class_),
        )
        for name, value, class_ in facts
    )
    return element("ul", "\n".join(items))


def _line(facts: Facts, label: str) -> str:
    values = (
        _bold(name, label) + (value if name else element("span", value, class_=class_))
        for name, value, class_ in facts
    )
    return element("p", "<br>\n".join(values))


def _divs(facts: Facts, label: str) -> str:
    items = (
        element(
            "div", (element("div", name, class_=label) if name else "") + element("div", value, class_=class_)
        )
        for name, value, class_ in facts
    )
    return "\n".join(items)


def _paragraphs(facts: Facts, label: str) -> str:
    return "\n".join(
        element(
            "p", (element("strong", name, class_=label) + "&nbsp;" if name else "") + value, class_=class_
        )
        for name, value, class_ in facts
    )


def _headings(facts: Facts, label: str) -> str:
    return "\n".join(
        (element("h4", name, class_=label) if name else "") + element("div", value, class_=class_)
        for name, value, class_ in facts
    )


_LAYOUTS = {
    "dl": _definitions,
    "table": _table,
    "grid": _grid,
    "list": _items,
    "spans": _spans,
    "line": _line,
    "divs": _divs,
    "paragraphs": _paragraphs,
    "headings": _headings,
}
