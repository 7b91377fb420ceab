"""A small made-up book shop for tests of language models: pages, their truth, and places for wrong answers."""

from __future__ import annotations

from collections.abc import Sequence

from untemplate import Attribute, Page, Schema

__all__ = ["BOOKS", "SCHEMA", "all_values", "book_page", "book_pages"]

SCHEMA = Schema(
    "book",
    {
        "title": Attribute("title", mandatory=True),
        "author": Attribute("author"),
        "publisher": Attribute("publisher"),
        "price": Attribute("price", type="price"),
    },
)

BOOKS = (
    ("The Long Road", "Ada Byron", "Harbor Press", "$12.50"),
    ("Salt and Iron", "Jon Weaver", "Old Mill Books", "$7.99"),
    ("A Field of Stars", "Mina Costa", "Harbor Press", "$21.00"),
    ("Nine Rivers", "Paul Okoro", "Lantern House", "$9.25"),
    ("Winter Orchard", "Lena Fuchs", "Old Mill Books", "$15.75"),
    ("The Clockmaker", "Ravi Menon", "Tern & Co", "$18.10"),
    ("Paper Moons", "Sofia Lind", "Lantern House", "$11.30"),
    ("Under the Elms", "Tom Baird", "Harbor Press", "$6.40"),
)


def book_page(number: int, text: str = "") -> Page:
    """Return the page of a book; `text` is what a stranger wrote below it."""
    title, author, publisher, price = BOOKS[number]
    html = f"""<html><head><title>{title} | Books</title></head><body>
      <nav><a href="/">Home</a> <a href="/new">New books</a></nav>
      <div class="book"><h1>{title}</h1>
        <p class="byline">by <a class="author" href="/a/{number}">{author}</a></p>
        <table><tr><td>Publisher</td><td>{publisher}</td></tr>
          <tr><td>Pages</td><td>{200 + 7 * number}</td></tr></table>
        <p class="cost">Price: <b>{price}</b></p>
        <div class="review"><h3>Review {number}</h3><p>{text or f"Chapter {number + 1} is the best."}</p></div>
      </div><footer>Books since 1990</footer></body></html>"""
    return Page(f"http://books.example/b/{number}", html, id=f"{number}.html")


def book_pages(texts: Sequence[str] = ()) -> list[Page]:
    """Return all pages; the first ones with what strangers wrote there."""
    return [book_page(number, texts[number] if number < len(texts) else "") for number in range(len(BOOKS))]


def all_values() -> dict[str, list[str]]:
    """Return all values of each attribute."""
    columns = zip(*BOOKS, strict=True)
    return {name: list(column) for name, column in zip(SCHEMA.attributes, columns, strict=True)}
