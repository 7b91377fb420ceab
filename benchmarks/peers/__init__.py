"""Other libraries on the same pages: each in an environment of its own, spoken to in JSON.

They need versions of their dependencies that exclude each other and ours, so none of them is imported here:
`install` makes `.venv-peers/NAME`, `run_peer` starts `benchmarks.peers.worker` with its interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = [
    "DETAIL_PEERS",
    "EXPORT_PEERS",
    "LABELED",
    "LIST_PEERS",
    "PEERS",
    "Found",
    "FoundLists",
    "FoundRows",
    "Peer",
    "PeerFailed",
    "Uninstallable",
    "Values",
    "install",
    "run_crawl4ai",
    "run_detail_peer",
    "run_list_peer",
    "run_peer",
]

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".venv-peers"
LABELED = (1, 2)
"""Numbers of labeled pages that peers are run with: more do not change what they can express."""

Values = Mapping[str, Mapping[str, Sequence[str]]]
"""page id → attribute → true values"""

Found = dict[str, dict[str, str | None]]
"""page id → attribute → text"""

FoundLists = dict[str, dict[str, list[str]]]
"""page id → attribute → texts"""


FoundRows = dict[str, list[list[str]]]
"""page id → rows of texts"""


@dataclass(frozen=True)
class Peer:
    """What to install: `build` first, then `packages` with these variables set."""

    packages: tuple[str, ...]
    build: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


# lxml in all of them: time is measured in parses of the same page.
PEERS = {
    "copied XPaths (parsel)": Peer(("parsel>=1.9", "lxml")),
    "copied XPaths from ids (parsel)": Peer(("parsel>=1.9", "lxml")),
    "Scrapling": Peer(("scrapling>=0.3", "lxml")),
    "AutoScraper": Peer(("autoscraper==1.1.14", "beautifulsoup4<4.13", "lxml")),
    # Its released C sources are too old for Python 3.11, so they are made anew by the Cython of their time.
    "scrapely": Peer(
        ("scrapely==0.14.1", "w3lib<2", "lxml"),
        ("cython<3", "numpy", "setuptools<70", "wheel"),
        {"CYTHONIZE": "1"},
    ),
    "webstruct": Peer(("webstruct==0.6", "python-crfsuite", "sklearn-crfsuite", "lxml[html-clean]")),
}
# On today's detail pages, values are elements or lists of them, which not every peer can learn.
DETAIL_PEERS = {
    **{name: PEERS[name] for name in ("copied XPaths (parsel)", "Scrapling", "AutoScraper")},
    "extruct (JSON-LD by name)": Peer(("extruct>=0.17", "lxml[html-clean]")),
}


# On list pages. mdr is code of Python 2 whose C sources no longer compile; pydepta and webdext are on no index.
LIST_PEERS = {
    "AutoScraper": PEERS["AutoScraper"],
    "extruct": DETAIL_PEERS["extruct (JSON-LD by name)"],
    "libextract": Peer(("libextract==0.0.12", "lxml")),
    "pandas.read_html": Peer(("pandas>=2", "html5lib", "beautifulsoup4", "lxml")),
    "mdr": Peer(("mdr==0.0.1",), ("numpy<2", "setuptools<70", "wheel")),
    "pydepta": Peer(("pydepta",)),
    "webdext": Peer(("webdext",)),
}


# Tools that rules are exported to, besides those of our own environment.
EXPORT_PEERS = {"crawl4ai": Peer(("crawl4ai==0.9.5",))}


class Uninstallable(Exception):
    """A peer cannot be installed here; the message is the last line that pip said."""


class PeerFailed(Exception):
    """A peer ended with an error on a site; the message is the last line it said."""


def install(name: str) -> None:
    """Make the environment of a peer, once."""
    peer, folder = (PEERS | DETAIL_PEERS | LIST_PEERS | EXPORT_PEERS)[name], _folder(name)
    ready = folder / ".ready"
    wanted = json.dumps([peer.build, peer.packages])
    if ready.is_file() and ready.read_text("utf-8") == wanted:
        return
    venv.create(folder, with_pip=True, clear=True)
    if peer.build:
        _pip(folder, peer.build)
    _pip(folder, ("--no-build-isolation", *peer.packages) if peer.build else peer.packages, peer.variables)
    (ENVIRONMENTS / ".gitignore").write_text("*\n", "utf-8")
    ready.write_text(wanted, "utf-8")


def _pip(folder: Path, packages: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
    run = subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages],
        capture_output=True,
        text=True,
        env={**os.environ, **(variables or {})},
    )
    if run.returncode:
        said = [line for line in run.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
        raise Uninstallable(said[-1].removeprefix("ERROR: "))


def run_peer(
    name: str,
    folder: Path,
    labeled: Values,
    tested: Values,
) -> tuple[Found, list[float]]:
    """What a peer finds on the tested pages of a site, and its time on each as a multiple of parsing it.

    It is told the tested pages' values only to choose among the places where a labeled value stands, so that
    each peer is at its best.
    """
    answer = _ask(name, {"folder": str(folder), "labeled": labeled, "tested": tested})
    return answer["found"], answer["ratios"]


def run_detail_peer(
    name: str, folder: Path, labeled: Values, tested: Values, many: Sequence[str]
) -> tuple[FoundLists, list[tuple[float, float]]]:
    """Return what a peer finds on the tested detail pages of a site, and its times: of extraction, of the parse.

    Args:
        name: one of DETAIL_PEERS.
        folder: where the pages are files.
        labeled: the values of one page.
        tested: the pages to extract from. Their values serve only to choose among the places of a labeled value, so
            that each peer is at its best.
        many: the attributes that are lists.
    """
    order = {"folder": str(folder), "labeled": labeled, "tested": tested, "many": list(many)}
    answer = _ask(name, order)
    return answer["found"], answer["times"]


def run_list_peer(name: str, folder: Path, pages: Mapping[str, Sequence[Sequence[str]]]) -> FoundRows:
    """Return the rows of texts that a peer finds on list pages.

    Args:
        name: one of LIST_PEERS.
        folder: where the pages are files.
        pages: the names of the files, each with the cells of its first two records, for peers that learn.
    """
    found: FoundRows = _ask(name, {"folder": str(folder), "lists": pages})["found"]
    return found


def run_crawl4ai(orders: Sequence[Mapping[str, object]]) -> list[list[dict[str, Any]]]:
    """Return the items of each order, which is a schema and the HTML of a page."""
    run = subprocess.run(
        [_folder("crawl4ai") / "bin" / "python", "-m", "benchmarks.peers.crawl4ai_schema"],
        input="".join(json.dumps(order) + "\n" for order in orders),
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    if run.returncode:
        raise PeerFailed(run.stderr.strip().rpartition("\n")[2])
    return [json.loads(line) for line in run.stdout.splitlines()[-len(orders) :]]


def _ask(name: str, order: Mapping[str, object]) -> Any:
    run = subprocess.run(
        [_folder(name) / "bin" / "python", "-m", "benchmarks.peers.worker"],
        input=json.dumps({"peer": name, **order}),
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    if run.returncode:
        raise PeerFailed(run.stderr.strip().rpartition("\n")[2])
    return json.loads(run.stdout.splitlines()[-1])


def _folder(name: str) -> Path:
    return ENVIRONMENTS / name.partition(" ")[0].lower()
