"""What kind of page a cluster seems to be made of."""

from __future__ import annotations

from untemplate import Page, cluster
from untemplate.clustering import guess_kinds

FRAME = "<nav><a href=/about>About</a> <a href=/cart>Cart</a></nav>{}<p>Example Teas, 1 Tea Street</p>"
TEXT = "It tastes of {0} and of many other things that a tea may taste of. " * 4


def page(path: str, body: str) -> Page:
    return Page(f"http://tea.example{path}", f"<html><body>{FRAME.format(body)}</body></html>")


def details(declared: str = "") -> list[Page]:
    related = "<aside><h3><a href=/tea/{0}>Tea {0}</a></h3><h3><a href=/tea/{1}>Tea {1}</a></h3></aside>"
    return [
        page(
            f"/tea/{n}",
            f"{declared}<h1>Tea {n}</h1><div>{TEXT.format(n)}</div>{related.format(n + 1, n + 2)}",
        )
        for n in range(8)
    ]


def lists() -> list[Page]:
    row = "<li><h2><a href=/tea/{0}>Tea {0}</a></h2> <b>{0} $</b></li>"
    return [page(f"/page/{n}", f"<ul>{''.join(row.format(n + i) for i in range(6))}</ul>") for n in range(4)]


def kinds(pages: list[Page]) -> dict[str, str]:
    clusters = cluster(pages)
    names = [kind.name for kind in guess_kinds(clusters)]
    return {one.pages[0].url.split("/")[3]: name for one, name in zip(clusters, names, strict=True)}


def test_details_and_lists() -> None:
    assert kinds([*details(), *lists()]) == {"tea": "detail", "page": "list"}


def test_what_pages_declare_comes_first() -> None:
    meta = '<meta property="og:type" content="product">'
    [kind] = guess_kinds(cluster(details(meta)))
    assert (kind.name, kind.reason) == ("detail", "its pages declare the type product")


def test_pages_with_little_of_their_own() -> None:
    [kind] = guess_kinds(cluster([page(f"/thanks/{n}", f"<p>Thanks, {n}!</p>") for n in range(5)]))
    assert kind.name == "other"


def test_a_cluster_that_cannot_be_read() -> None:
    [kind] = guess_kinds(cluster([Page(html=b"<div>" * 5000, id=str(n)) for n in range(3)]))
    assert (kind.name, kind.reason) == ("other", "no page can be read")


def test_trees_are_released() -> None:
    pages = details()
    guess_kinds(cluster(pages))
    assert not any(page.is_parsed for page in pages)
