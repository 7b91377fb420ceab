"""Lines: texts, inline elements, images and controls, one beside the other until there is no room."""

from __future__ import annotations

from math import ceil

from untemplate.layout.frame import Canvas, Frame
from untemplate.layout.outline import Outline
from untemplate.layout.style import INLINE_BLOCK, REPLACED, Style
from untemplate.layout.text import SPACE

__all__ = ["Lines"]

# A line that breaks ends, on average, half a word early; words are taken to be at most so many font sizes wide.
WORD = 3.0


class Lines:
    """Fills the lines of frames."""

    def __init__(self, outline: Outline, canvas: Canvas) -> None:
        self._outline = outline
        self._canvas = canvas

    def text(self, frame: Frame, slot: int, style: Style) -> None:
        self._start(frame, slot, style)
        width = self._outline.width[slot]
        if frame.cursor + width > frame.line_right and not style.nowrap:
            word = min(self._outline.word[slot], WORD * style.size)
            if frame.cursor > frame.line_left and frame.cursor + word > frame.line_right:
                self.end(frame)
                frame.start_line()
            if frame.cursor + width > frame.line_right:
                self._wrap(frame, slot, style, width, word)
                return
        self._put(frame, slot, style)
        self._canvas.width[slot] = width
        frame.cursor += width

    def open_inline(self, frame: Frame, slot: int, style: Style) -> None:
        self._start(frame, slot, style)
        frame.cursor += style.left
        self._put(frame, slot, style)
        frame.cursor += style.pad_left

    def close_inline(self, frame: Frame, slot: int, style: Style) -> None:
        canvas = self._canvas
        if frame.items and canvas.y[slot] >= frame.y:  # on the line it started on
            frame.cursor += style.pad_right
            canvas.width[slot] = max(0.0, frame.cursor - canvas.x[slot])
            frame.cursor += style.right
        else:
            canvas.x[slot], canvas.width[slot] = frame.left, frame.right - frame.left
            canvas.height[slot] = max(0.0, frame.y + frame.line_height - canvas.y[slot])

    def replaced(self, frame: Frame, slot: int, style: Style, width: float, height: float) -> None:
        """An image or a control."""
        self.room(frame, slot, style, width + style.left + style.right)
        canvas = self._canvas
        frame.cursor += style.left
        canvas.x[slot], canvas.y[slot], canvas.width[slot], canvas.height[slot] = (
            frame.cursor,
            frame.y,
            width,
            height,
        )
        frame.items.append(slot)
        frame.cursor += width + style.right
        if height > frame.line_height:
            frame.line_height = height
            frame.text_lowered = style.valign

    def break_line(self, frame: Frame, slot: int, style: Style) -> None:
        self._start(frame, slot, style)
        self._put(frame, slot, style)
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
            if slot < 0:  # the end of a text that started above
                continue
            kind = outline.display[slot]
            if kind == INLINE_BLOCK:
                canvas.move(slot, right, max(0.0, height - canvas.height[slot]))
                continue
            canvas.x[slot] += right
            own = canvas.height[slot] if kind == REPLACED else outline.style[slot].line
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
        if line > frame.line_height:
            frame.line_height = line

    def _wrap(self, frame: Frame, slot: int, style: Style, width: float, word: float) -> None:
        """A text that takes several lines, maybe first beside a float and then below it."""
        canvas, line = self._canvas, style.line
        self._put(frame, slot, style)
        left, right, top = frame.line_left, frame.line_right, canvas.y[slot]
        rest = width - max(0.0, right - frame.cursor - word / 2)
        frame.cursor = right
        self.end(frame)
        while True:
            frame.start_line()
            left, right = min(left, frame.line_left), max(right, frame.line_right)
            usable = max(frame.line_right - frame.line_left - word / 2, word, 1.0)
            lines = max(1, ceil(rest / usable))
            beside = ceil((frame.floats.next_bottom(frame.y) - frame.y) / line) if line else 0
            if beside <= 0 or lines <= beside:
                break
            frame.y += beside * line
            rest -= beside * usable
        frame.y += (lines - 1) * line
        frame.cursor = min(frame.line_left + max(0.0, rest - (lines - 1) * usable), frame.line_right)
        frame.line_height = line
        frame.items.append(-1)
        canvas.x[slot], canvas.y[slot], canvas.width[slot] = left, top, right - left
        canvas.height[slot] = frame.y - top + (line + style.text_height) / 2
