"""Which posts a list page of a blog lists, by the addresses of known posts."""

from benchmarks.data.post_lists import PostPaths, lists_of
from benchmarks.data.whole_sites import WholeSite
from untemplate import Page

HOST = "https://blog.example"


def test_posts_have_known_addresses_or_such_as_these() -> None:
    paths = PostPaths(
        [f"{HOST}/2024/05/01/tea/", f"{HOST}/2023/11/30/coffee/index.html"], [f"{HOST}/2024/05/01/archive/"]
    )
    assert paths.has_pattern
    assert paths.post_at(f"{HOST}/2024/05/01/Tea/index.html") == "2024/05/01/tea"
    assert paths.post_at(f"{HOST}/blog/2021/01/02/milk/") == "2021/01/02/milk"
    assert paths.post_at(f"{HOST}/2024/05/01/archive/") is None
    assert paths.post_at(f"{HOST}/tags/tea/") is None
    assert paths.post_at("http://[broken") is None


def test_without_a_pattern_only_known_posts_can_be_recognized() -> None:
    paths = PostPaths([f"{HOST}/tea/", f"{HOST}/coffee/"], [])
    assert not paths.has_pattern
    assert paths.post_at(f"{HOST}/tea") == "tea"
    assert paths.post_at(f"{HOST}/about/") is None


def link(day: int, name: str) -> str:
    return f"<a href='/2024/05/{day:02}/{name}/'>{name}</a>"


def test_lists_have_the_posts_outside_of_side_bars_and_running_text() -> None:
    body = f"<div><h2>{link(1, 'tea')}</h2><p>see {link(3, 'milk')}</p></div><div><h2>{link(2, 'coffee')}</h2></div>"
    html = f"<main>{body}</main><div class='sidebar'>{link(4, 'sugar')}</div>"
    pages = [
        Page(f"{HOST}/tags/drinks/", html, "tag"),
        Page(f"{HOST}/2024/05/01/tea/", "<h1>tea</h1>", "tea"),
        Page(f"{HOST}/2024/05/09/cake/", "<h1>cake</h1>", "cake"),
    ]
    kinds = {"tag": "tag", "tea": "post", "cake": "post"}
    site = WholeSite("blog", "blogs", pages, {name: {"kind": kind} for name, kind in kinds.items()})
    [listed] = lists_of(site)
    assert listed.kind == "tag"
    assert listed.titles == {"2024/05/01/tea": "tea", "2024/05/02/coffee": "coffee"}
