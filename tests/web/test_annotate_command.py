"""The commands: annotate takes pages in and serves them, serve comes back to them, an interrupt ends both."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from untemplate import cluster, write_labels
from untemplate.catalog import Catalog
from untemplate.cli import main


@contextmanager
def started(*arguments: str | Path, cwd: Path) -> Iterator[str]:
    """A command while it serves; the address that it printed."""
    command = [sys.executable, "-c", "import sys; from untemplate.cli import main; sys.exit(main())"]
    process = subprocess.Popen(
        [*command, *map(str, arguments), "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=os.environ,
    )
    assert process.stdout
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        process.stdout.close()


def test_annotate_then_serve(folder: Path, tmp_path: Path) -> None:
    with (
        started("annotate", folder, "--schema", "restaurant", cwd=tmp_path) as url,
        httpx2.Client() as client,
    ):
        assert url.endswith("#/annotate?site=www.zenguide2.example")
        assert client.get(url, follow_redirects=True).status_code == 200
        origin = url.partition("/?")[0]
        [site] = client.get(f"{origin}/api/sites").json()
        assert (site["site"], site["schema_name"]) == ("www.zenguide2.example", "restaurant")
    with Catalog.open(tmp_path / "untemplate.db", create=False) as catalog:
        assert [run.kind for run in catalog.runs("www.zenguide2.example")] == ["annotate"]
    with started("serve", cwd=tmp_path) as url, httpx2.Client() as client:
        client.get(url, follow_redirects=True)
        [again] = client.get(f"{url.partition('/?')[0]}/api/sites").json()
        assert again == site


def test_corrected_templates_stay_corrected(tmp_path: Path) -> None:
    folder, labels = tmp_path / "pages", tmp_path / "labels.jsonl"
    folder.mkdir()
    for number in range(12):
        html = f"<h1>{number}</h1><p>x" if number % 2 else f"<ul><li>{number}<li>y</ul>"
        (folder / f"{number}.html").write_text(f'<base href="http://inns.example/{number}">{html}')
    assert [found.size for found in cluster(folder)] == [6, 6]
    write_labels([], labels, {f"{number}.html": "all" for number in range(12)})
    command = ("annotate", folder, "--schema", "restaurant")
    with started(*command, "--labels", labels, cwd=tmp_path):
        pass
    with Catalog.open(tmp_path / "untemplate.db") as catalog:
        [wrapper] = catalog.rules("inns.example").wrappers
        assert wrapper.named
    with started(*command, cwd=tmp_path), Catalog.open(tmp_path / "untemplate.db") as catalog:
        assert len(catalog.rules("inns.example").wrappers) == 1, "annotated again without the labels"


def test_pages_without_urls_are_named_after_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "my-inns"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.html").write_text(f"<h1>Inn {number}</h1>")
    with started("annotate", folder, "--schema", "restaurant", cwd=tmp_path) as url:
        assert url.endswith("#/annotate?site=my-inns")


def test_what_cannot_be_served_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["annotate", str(tmp_path / "none"), "--schema", "book", "--catalog", str(tmp_path / "c.db")])
        == 2
    )
    assert "none" in capsys.readouterr().err
    assert main(["annotate", str(tmp_path), "--schema", "nonsense", "--catalog", str(tmp_path / "c.db")]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_a_taken_port_is_named(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with started("annotate", folder, "--schema", "restaurant", cwd=tmp_path) as url:
        port = url.partition("/?")[0].rpartition(":")[2]
        arguments = ["serve", "--catalog", str(tmp_path / "untemplate.db"), "--port", port, "--no-browser"]
        assert main(arguments) == 2
        assert f"port {port}" in capsys.readouterr().err
        pages = tmp_path / "no-such-pages"  # the port is tried before the pages are read
        taken = ["annotate", str(pages), "--schema", "restaurant", "--port", port, "--no-browser"]
        assert main(taken) == 2
        assert f"port {port}" in capsys.readouterr().err


def test_serve_alone_is_enough(tmp_path: Path) -> None:
    with started("serve", cwd=tmp_path) as url, httpx2.Client() as client:
        client.get(url, follow_redirects=True)
        assert client.get(f"{url.partition('/?')[0]}/api/sites").json() == []
