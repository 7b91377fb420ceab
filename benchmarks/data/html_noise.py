"""Pages that no author would write: tags, texts and broken markup at random, the same for the same seed."""

from __future__ import annotations

from random import Random

__all__ = ["make_noise"]

_TAGS = [
    "a",
    "b",
    "p",
    "div",
    "span",
    "table",
    "tr",
    "td",
    "th",
    "tbody",
    "thead",
    "ul",
    "li",
    "ol",
    "dl",
    "dt",
    "dd",
    "h1",
    "h2",
    "form",
    "option",
    "select",
    "optgroup",
    "script",
    "style",
    "title",
    "textarea",
    "head",
    "body",
    "html",
    "frameset",
    "frame",
    "noframes",
    "noscript",
    "br",
    "img",
    "meta",
    "link",
    "base",
    "pre",
    "center",
    "font",
    "foo",
    "o:p",
    "iframe",
    "object",
    "caption",
    "colgroup",
    "col",
    "plaintext",
    "xmp",
    "svg",
    "address",
    "menu",
    "fieldset",
    "legend",
    "i",
    "u",
    "s",
    "hr",
    "input",
    "p",
    "body",
    "head",
    "template",
]
_TEXTS = (
    *("x", " ", "\n", "a b", "&amp;", "&lt", "&#65;", "&notit;", "&copy", "<!--c-->", "<!--", "-->", "--!>"),
    *(
        "<!doctype html>",
        "<!x>",
        "<?y?>",
        "</>",
        "</ z>",
        "<",
        "&",
        ">",
        '"',
        "'",
        "é",
        "\r\n",
        "\t",
        "\f",
        "\v",
    ),
    *("\x01", "=", "/", "/>", "<![CDATA[z]]>", "</body>", "</html>", "</body q>", "</html q>", "</head>"),
    *(
        "<script>",
        "</script>",
        "<!--<script>",
        "&#x80;",
        "&#13;",
        "&#0;",
        "\u00a0",
        "&nbsp;",
        "&NotEqualTilde;",
    ),
    *("<p", "<a b", "</p", "\u3000", "&#99999999;", "&ngt;", "&CounterClockwiseContourIntegral;"),
)
_ATTRIBUTES = (
    "class",
    "ID",
    "a",
    "b",
    "B",
    "x:y",
    "é",
    '"q"',
    "=",
    "<",
    "c\v",
    "\x01d",
    "checked",
    "hidden",
    "style",
)
_VALUES = (
    *(
        "",
        "=1",
        " = 2",
        "='3 4'",
        '="5&amp;6"',
        "='&copyx'",
        "=&lt;",
        "='>'",
        '="<b>"',
        "='\r\n'",
        "=",
        "='x",
        "=a/",
    ),
    *("='&#65'", "='display:none'"),
)


def make_noise(random: Random) -> bytes:
    """Return the next page."""
    pieces = []
    for _ in range(random.randint(1, random.choice((4, 8, 20, 40)))):
        kind = random.random()
        if kind < 0.45:
            pieces.append(_start_tag(random))
        elif kind < 0.65:
            pieces.append(f"</{random.choice(_TAGS)}{random.choice(('>', '>', '>', ' >', ' q>', '/>'))}")
        else:
            pieces.append(random.choice(_TEXTS))
    return "".join(pieces).encode()


def _start_tag(random: Random) -> str:
    tag = random.choice(_TAGS)
    attributes = ""
    for _ in range(random.choice((0, 0, 0, 1, 1, 2, 3))):
        attributes += (
            random.choice((" ", "\n", " / ", "/")) + random.choice(_ATTRIBUTES) + random.choice(_VALUES)
        )
    end = random.choice((">", ">", ">", ">", "/>", " />", " >"))
    return f"<{tag.upper() if random.random() < 0.2 else tag}{attributes}{end}"
