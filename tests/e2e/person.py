"""What a person does in the browser, by pointer or keyboard, and what they see."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from playwright.sync_api import Frame, Locator, Page, expect

from untemplate.web import RunningServer

__all__ = ["TEXTS", "Person"]

# All texts inside an element.
TEXTS = """element => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode.data.trim());
    return texts.filter(Boolean);
}"""


class Person:
    """A person in front of one browser window."""

    def __init__(self, window: Page, server: RunningServer) -> None:
        self.window = window
        self.server = server

    def open(self, view: str = "annotate", **parameters: str) -> None:
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        self.window.goto(f"{self.server.url}#/{view}?{query}")

    @property
    def page(self) -> Frame:
        """The page shown, once it stands there."""
        shown = self.window.locator(".frame[aria-busy=false] iframe").locator("visible=true")
        shown.wait_for()
        frame = shown.element_handle().content_frame()
        assert frame
        return frame

    @property
    def page_id(self) -> str:
        assert self.page
        return self.window.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('page')")

    def text(self, value: str) -> Locator:
        """The place on the page that shows a value and nothing else; a heading if there are several."""
        exact = self.page.get_by_text(value, exact=True)
        headings = self.page.locator("h1,h2").get_by_text(value, exact=True)
        return headings.first if headings.count() else exact.locator("visible=true").last

    def choose(self, attribute: str) -> None:
        self.window.locator(".chip .name").filter(has_text=attribute).click()

    def click(self, value: str, modifiers: Sequence[str] = ()) -> None:
        place = self.text(value)
        with self.completing():
            place.click(modifiers=list(modifiers))  # type: ignore[arg-type]

    def label(self, value: str) -> None:
        """Click a value; drag over it where it is part of a text; click its first and last text if it has several."""
        if self.text(value).count() == 0:
            self.select(value, value)
            return
        texts = self.text(value).evaluate(TEXTS)
        self.click(texts[0])
        if len(texts) > 1:
            self.click(texts[-1], ["Shift"])

    def select(self, within: str, part: str) -> None:
        """Drag over a part of a text."""
        box = self.page.evaluate(
            """([within, part]) => {
                const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                while (walker.nextNode()) {
                    const start = walker.currentNode.data.indexOf(part);
                    if (start < 0 || !walker.currentNode.data.includes(within)) continue;
                    const range = document.createRange();
                    range.setStart(walker.currentNode, start);
                    range.setEnd(walker.currentNode, start + part.length);
                    range.startContainer.parentElement.scrollIntoView({block: "center"});
                    const {left, right, top, bottom} = range.getBoundingClientRect();
                    return {left, right, middle: (top + bottom) / 2};
                }
            }""",
            [within, part],
        )
        frame = self.window.locator(".annotate .frame iframe").bounding_box()
        assert box
        assert frame
        mouse = self.window.mouse
        with self.completing():
            mouse.move(frame["x"] + box["left"] + 0.5, frame["y"] + box["middle"])
            mouse.down()
            mouse.move(frame["x"] + box["right"] - 0.5, frame["y"] + box["middle"], steps=4)
            mouse.up()

    def press(self, *keys: str) -> None:
        """Press keys that ask for nothing."""
        for key in keys:
            self.window.keyboard.press(key)

    def ask(self, *keys: str) -> None:
        """Press keys, each of which asks for something, and wait for it."""
        for key in keys:
            with self.completing():
                self.window.keyboard.press(key)

    @contextmanager
    def completing(self, count: int = 1) -> Iterator[None]:
        """Wait until what is asked for in the block is shown."""
        assert self.page
        root = self.window.locator(".annotate")
        before = int(root.get_attribute("data-completed") or 0)
        yield
        expect(root).to_have_attribute("data-completed", str(before + count))

    def value(self, attribute: str) -> str:
        """What the chip of an attribute says about this page."""
        chip = self.window.locator(".chip").filter(has=self.window.locator(".name", has_text=attribute))
        return " | ".join(chip.locator(".value .grow").all_inner_texts())

    def state(self, attribute: str) -> str:
        chip = self.window.locator(".chip").filter(has=self.window.locator(".name", has_text=attribute))
        return (chip.get_attribute("class") or "").split()[1]

    def records(self) -> list[list[str]]:
        """The live table, without the names of pages."""
        rows = self.window.locator(".records tbody tr").all()
        return [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]

    def download(self, format: str) -> list[dict[str, str]]:
        """The records, exported as CSV."""
        self.window.get_by_role("link", name="Export").click()
        with self.window.expect_download() as download:
            self.window.get_by_role("button", name=format).click()
        text = download.value.path().read_text("utf-8")
        return list(csv.DictReader(io.StringIO(text)))
