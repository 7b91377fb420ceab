"""Lines: texts, inline elements, images and controls, one beside the other until there is no room."""

from __future__ import annotations

from untemplate.layout.frame import Canvas, Frame
from untemplate.layout.outline import Outline
from untemplate.layout.style import INLINE_BLOCK, REPLACED, Style
from untemplate.layout.text import SPACE

__all__ = ["CONTINUED", "Lines"]

# Stands on a line for the rest of a text that started above.
CONTINUED = -1


class Lines:
    """Fills the lines of frames."""

    def __init__(self, outline: Outline, canvas: Canvas) -> None:
        self._outline = outline
        self._canvas = canvas

    def text(self, frame: Frame, slot: int, style: Style) -> None:
        self._start(frame, slot, style)
        width = self._outline.width[slot]
        if frame.cursor + width > frame.line_right and not style.nowrap:
            words = self._outline.words(slot)
            if frame.cursor > frame.line_left and frame.cursor + words[0] > frame.line_right:
                self.end(frame)
                frame.start_line()
            if frame.cursor + width > frame.line_right:
                self._wrap(frame, slot, style, words)
                return
        self._put(frame, slot, style)
        frame.fill_line(style.line)
        self._canvas.width[slot] = width
        frame.cursor += width

    def open_inline(self, frame: Frame, slot: int, style: Style) -> None:
        self._start(frame, slot, style)
        frame.cursor += style.left
        self._put(frame, slot, style)
        frame.cursor += style.pad_left

    def close_inline(self, frame: Frame, slot: int, style: Style) -> None:
        canvas = self._canvas
        top = frame.y + (style.line - style.text_height) / 2
        if frame.items and canvas.y[slot] >= top:  # on the line it started on
            frame.cursor += style.pad_right
            canvas.width[slot] = max(0.0, frame.cursor - canvas.x[slot])
            frame.cursor += style.right
        else:
            canvas.spread.append(slot)

    def replaced(self, frame: Frame, slot: int, style: Style, width: float, height: float) -> None:
        """An image or a control."""
        self.room(frame, slot, style, width + style.left + style.right)
        canvas = self._canvas
        frame.cursor += style.left
        canvas.x[slot], canvas.y[slot] = frame.cursor, frame.y
        canvas.width[slot], canvas.height[slot] = width, height
        frame.items.append(slot)
        frame.cursor += width + style.right
        if height > frame.line_height:
            frame.text_lowered = style.valign
        frame.fill_line(height + frame.style.descent)

    def break_line(self, frame: Frame, slot: int, style: Style) -> None:
        self._start(frame, slot, style)
        self._put(frame, slot, style)
        frame.fill_line(style.line)
        self.end(frame)
        if style.clear:
            frame.go_below_floats()

    def room(self, frame: Frame, slot: int, style: Style, width: float) -> None:
        """Make room for something that cannot be parted."""
        self._start(frame, slot, style)
        if frame.cursor + width > frame.line_right and frame.cursor > frame.line_left:
            if style.nowrap or frame.style.flex:
                return
            self.end(frame)
            frame.start_line()

    def end(self, frame: Frame) -> None:
        """Close the open line: what stands on it is aligned."""
        canvas, outline = self._canvas, self._outline
        height = frame.line_height
        free = frame.line_right - frame.cursor
        right = free * frame.style.align if free > 0 else 0.0
        for slot in frame.items:
            if slot == CONTINUED:
                continue
            kind = outline.display[slot]
            if kind == INLINE_BLOCK:
                canvas.move(slot, right, max(0.0, height - frame.style.descent - canvas.height[slot]))
                continue
            canvas.x[slot] += right
            if not height:  # nothing stands on it
                canvas.height[slot] = 0.0
            own = canvas.height[slot] + frame.style.descent if kind == REPLACED else outline.style[slot].line
            if own < height:
                canvas.y[slot] += (height - own) * frame.text_lowered
        frame.items = []
        frame.y += height
        frame.line_height = 0.0
        frame.line_left = frame.cursor = frame.left

    def _start(self, frame: Frame, slot: int, style: Style) -> None:
        """Be on a line; after white space, if there is some."""
        if not frame.items:
            frame.start_line()
        elif self._outline.spaced[slot] and frame.cursor > frame.line_left:
            frame.cursor += SPACE * style.scale

    def _put(self, frame: Frame, slot: int, style: Style) -> None:
        canvas, line = self._canvas, style.line
        canvas.x[slot] = frame.cursor
        canvas.y[slot] = frame.y + (line - style.text_height) / 2
        canvas.height[slot] = style.text_height
        frame.items.append(slot)

    def _wrap(self, frame: Frame, slot: int, style: Style, words: list[float]) -> None:
        """A text that takes several lines, maybe first beside a float and then below it."""
        canvas, line, space = self._canvas, style.line, SPACE * style.scale
        self._put(frame, slot, style)
        frame.fill_line(line)
        starts, ends, top, align = [], [], canvas.y[slot], frame.style.align
        start = frame.cursor
        frame.cursor += words[0]
        for word in words[1:]:
            if frame.cursor + space + word > frame.line_right:
                free = max(0.0, frame.line_right - frame.cursor) * align
                starts.append(start + free)
                ends.append(frame.cursor + free)
                self.end(frame)
                frame.start_line()
                frame.items.append(CONTINUED)
                frame.fill_line(line)
                start = frame.cursor
                frame.cursor += word
            else:
                frame.cursor += space + word
        if not starts:  # a word that is wider than the line
            canvas.width[slot] = frame.cursor - start
            return
        free = max(0.0, frame.line_right - frame.cursor) * align
        canvas.x[slot] = left = min(*starts, start + free)
        canvas.width[slot] = max(*ends, frame.cursor + free) - left
        canvas.y[slot] = top
        canvas.height[slot] = frame.y - top + (line + style.text_height) / 2
