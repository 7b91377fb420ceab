"""The cascade: an element's style from its parent's, its tag, its attributes and the rules for it."""

from __future__ import annotations

from untemplate.layout import style as s
from untemplate.layout.declared import Declarations, declarations, declare, declare_font
from untemplate.layout.defaults import by_attributes, by_tag, default_margins
from untemplate.layout.style import INHERITED, Style

__all__ = ["Cascade"]

Attributes = tuple[tuple[str, str], ...]

# So much wider are letters when they are bold; `python -m benchmarks.measure.layout --choose`.
BOLD = 1.06
# So many styles are remembered; pages of a site have a few hundred.
MAX_STYLES = 20_000


class Cascade:
    """Styles, each made once: pages of a template use the same ones again and again."""

    def __init__(self, quirks: bool) -> None:
        self._quirks = quirks
        self._keys: dict[tuple[object, ...], int] = {}
        self._styles: dict[tuple[object, ...], Style] = {}
        root = Style()
        root.display = s.BLOCK
        self.root = self._finish(root)

    @property
    def full(self) -> bool:
        """Whether it remembers all it may."""
        return len(self._styles) >= MAX_STYLES or len(self._keys) >= MAX_STYLES

    def style(
        self, parent: Style, tag: str, attributes: Attributes = (), declared: Declarations = ()
    ) -> Style:
        """The style of an element by its tag, its telling attributes and what style sheets declare for it."""
        key = (parent.key, tag, attributes, declared)
        style = self._styles.get(key)
        if style is None:
            style = self._make(parent, tag, dict(attributes), declared)
            if not self.full:
                self._styles[key] = style
        return style

    def _make(self, parent: Style, tag: str, attributes: dict[str, str], declared: Declarations) -> Style:
        style = Style()
        for name in INHERITED:
            setattr(style, name, getattr(parent, name))
        by_tag(style, tag, self._quirks)
        if attributes:
            by_attributes(style, tag, attributes)
            declared += declarations(attributes.get("style", ""))
        declare_font(style, parent, declared)
        default_margins(style, tag, self._quirks)
        declare(style, declared)
        style.display = _in_place(style, parent, tag)
        return self._finish(style)

    def _finish(self, style: Style) -> Style:
        size = style.size
        # Rounded as browsers round: ascent, descent and gap of Times New Roman, each by itself.
        style.text_height = round(0.891 * size) + round(0.216 * size)
        normal = style.text_height + round(0.042 * size)
        line = style.line_height
        style.line = float(normal) if not line else line * size if line > 0 else -line
        if not self._quirks:
            style.strut, style.descent = style.line, float(round(0.216 * size))
        style.scale = size * style.factor * (BOLD if style.weight > 400 else 1.0)
        handed_down = (
            style.display,
            style.flex and not style.column,
            *(getattr(style, name) for name in INHERITED),
        )
        style.key = self._keys.setdefault(handed_down, len(self._keys))
        return style


def _in_place(style: Style, parent: Style, tag: str) -> int:
    """Parts of tables are such only inside tables; what stands outside the flow, or in a flex box, is a block."""
    display, around = style.display, parent.display
    if (tag == "form" or display == s.INLINE) and around in (s.TABLE, s.GROUP, s.ROW):
        return s.ROW if around == s.ROW else s.GROUP  # browsers look through what parts a table
    if display == s.CELL and around != s.ROW:
        return s.BLOCK
    if display in (s.ROW, s.GROUP) and around not in (s.TABLE, s.GROUP):
        return s.BLOCK
    if display in (s.INLINE, s.INLINE_BLOCK) and (style.side or style.absolute):
        return s.BLOCK
    if parent.flex and not parent.column and display in (s.INLINE, s.BLOCK):
        return s.INLINE_BLOCK
    return display
