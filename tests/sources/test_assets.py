"""Images and stylesheets that came with the pages, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from untemplate.catalog import Catalog
from untemplate.extraction import Rules
from untemplate.page import Page
from untemplate.schema import Schema
from untemplate.sources.assets import FolderAssets, NoAssets, WarcAssets, find_assets, find_saved_files
from untemplate.web.server import make_frame_app
from untemplate.web.workspace import Workspace

PNG = b"\x89PNG"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "pages"
    for name, content in {
        "a/page.html": b"<p>",
        "a/page_files/style.css": b"p { background: url(../../img/dot.png) }",
        "img/dot.png": PNG,
        "host.example/logo.png": PNG,
        "notes.txt": b"private",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    (tmp_path / "outside.png").write_bytes(PNG)
    return root


@pytest.mark.parametrize(
    ("reference", "key"),
    [
        ("page_files/style.css", "a/page_files/style.css"),
        ("page_files/style.css?v=3", "a/page_files/style.css"),
        ("../img/dot.png", "img/dot.png"),
        ("/img/dot.png", "img/dot.png"),
        ("/logo.png", "host.example/logo.png"),
        ("http://host.example/logo.png", "host.example/logo.png"),
        ("//host.example/logo.png", "host.example/logo.png"),
        ("../../outside.png", None),
        ("/../outside.png", None),
        ("%2e%2e/%2e%2e/outside.png", None),
        ("../notes.txt", None),
        ("missing.png", None),
        ("file:///etc/passwd", None),
        ("javascript:alert(1)", None),
        ("\0.png", None),
        ("x" * 5000 + ".png", None),
    ],
)
def test_references_lead_to_files_of_the_folder(folder: Path, reference: str, key: str | None) -> None:
    page = Page("http://host.example/a/page.html", b"", "a/page.html")
    assert FolderAssets(folder).key(page, None, reference) == key


def test_keys_lead_nowhere_else(folder: Path) -> None:
    assets = FolderAssets(folder)
    (folder / "link.png").symlink_to(folder.parent / "outside.png")
    asset = assets.read("img/dot.png")
    assert asset is not None
    assert (asset.type, asset.content) == ("image/png", PNG)
    for key in (
        "../outside.png",
        "link.png",
        "notes.txt",
        "a",
        "",
        "/etc/passwd",
        str(folder.parent / "outside.png"),
    ):
        assert assets.read(key) is None


def record(url: str, kind: str, body: bytes, status: str = "200 OK") -> bytes:
    http = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


def test_records_of_a_warc_are_found_by_url(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc"
    path.write_bytes(
        record("http://a.example/", "text/html", b"<p>")
        + record("http://a.example/s.css", "text/css", b"p{}")
        + record("http://a.example/i/dot.png", "image/png", PNG)
        + record("http://a.example/gone.png", "image/png", PNG, "404 Not Found")
        + record("http://a.example/x.js", "text/javascript", b"1")
    )
    assets = find_assets(str(path))
    assert isinstance(assets, WarcAssets)
    page = Page("http://a.example/", b"")
    assert assets.key(page, None, "s.css") == "http://a.example/s.css"
    assert assets.key(page, "http://a.example/i/more.css", "dot.png#x") == "http://a.example/i/dot.png"
    assert assets.key(page, None, "gone.png") is assets.key(page, None, "x.js") is None
    assert assets.read("http://a.example/i/dot.png") == ("image/png", PNG)


def test_sources_without_files_have_none(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text("{}", "utf-8")
    for source in (None, str(tmp_path / "pages.jsonl"), str(tmp_path / "gone")):
        assert isinstance(find_assets(source), NoAssets)


def test_the_frame_serves_them_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        catalog.save_rules("s", Rules(Schema.load("book"), ()))
        catalog.save_page("s", Page("http://host.example/a/page.html", b"<p>", "a/page.html"))
        catalog.finish_run(catalog.start_run("s", "annotate"), {"source": str(folder)})
        workspace = Workspace(catalog, "me", "http://127.0.0.1:2/secret")
        client = TestClient(
            make_frame_app(workspace, "secret", "http://127.0.0.1:1"), base_url="http://127.0.0.1:2"
        )
        asked = {"site": "s", "page": "a/page.html", "key": "a/page_files/style.css"}
        sheet = client.get("/secret/asset", params=asked)
        assert sheet.headers["content-type"] == "text/css; charset=utf-8"
        assert (
            'url("http://127.0.0.1:2/secret/asset?site=s&page=a%2Fpage.html&key=img%2Fdot.png")' in sheet.text
        )
        assert client.get("/secret/asset", params={**asked, "key": "img/dot.png"}).content == PNG
        assert client.get("/secret/asset", params={**asked, "key": "notes.txt"}).status_code == 404
        assert client.get("/secret/asset", params={**asked, "site": "other"}).status_code == 404
        shell = client.get("/secret/show", params={"site": "s"})
        policy = shell.headers["content-security-policy"]
        assert "sandbox allow-scripts" in policy
        assert "http:;" not in policy.replace(" ", ";").replace("http:/", "")
        for path in (
            "/",
            "/secret",
            "/other/show?site=s",
            "/secret/../app.py",
            "/secret/guard.js",
            "/secret/..js",
        ):
            assert client.get(path).status_code == 404
        assert (
            client.get("/secret/show", params={"site": "s"}, headers={"host": "evil.example"}).status_code
            == 400
        )
        workspace.jobs.close()


def test_saved_files_are_beside_a_page_or_in_its_folder(folder: Path) -> None:
    in_folder = Page("", b"", "a/page.html")
    assert (
        find_saved_files(str(folder)).key(in_folder, None, "page_files/style.css") == "a/page_files/style.css"
    )
    beside = find_saved_files(str(folder / "a" / "page.html"))
    assert beside.key(Page("", b"", "page.html"), None, "page_files/style.css") == "page_files/style.css"
    assert isinstance(find_saved_files(str(folder / "notes.txt")), NoAssets)
