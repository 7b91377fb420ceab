"""Train on one made-up site, label another, learn its rules: from the shell, with what can go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Run
from untemplate import read_labels
from untemplate.demo import make_site, write_site


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A seed site and a new one, detail pages only."""
    found = []
    for number in (101, 102):
        site = make_site("movie", number, 16)
        folder = tmp_path_factory.mktemp(f"site{number}")
        write_site(site, folder)
        for page in site.pages:
            if page.id not in site.truth:
                (folder / page.id).unlink()
        lines = (folder / "pages.csv").read_text().splitlines()
        kept = [line for line in lines if line.startswith("path") or line.split(",")[0] in site.truth]
        (folder / "pages.csv").write_text("\n".join(kept) + "\n")
        found.append(folder)
    return found[0], found[1]


@pytest.fixture(scope="module")
def knowledge(folders: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    from untemplate.cli import main

    folder = tmp_path_factory.mktemp("knowledge")
    seed = folders[0]
    assert main(["train", f"{seed}:{seed}/labels.jsonl", "--schema", "movie", "-o", str(folder)]) == 0
    return folder


def test_label_then_learn(run: Run, folders: tuple[Path, Path], knowledge: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    done = run("label", folders[1], "--knowledge", knowledge, "-o", labels)
    assert done.returncode in (0, 1)
    assert "title" in done.stdout
    assert f"Labels are in {labels}." in done.stderr
    assert {label.source for label in read_labels(labels)} == {"auto"}
    done = run("learn", folders[1], "--schema", "movie", "--labels", labels, "-o", tmp_path / "rules.json")
    assert "Rules are in" in done.stderr


def test_label_as_json(run: Run, folders: tuple[Path, Path], knowledge: Path, tmp_path: Path) -> None:
    arguments = ("label", folders[1], "--knowledge", knowledge, "-k", "10", "-o", tmp_path / "labels.jsonl")
    done = run(*arguments, "--json")
    findings = json.loads(done.stdout)
    assert [finding["attribute"] for finding in findings][:2] == ["title", "director"]
    assert done.returncode == (0 if all(finding["found"] for finding in findings) else 1)
    assert len({label.page for label in read_labels(tmp_path / "labels.jsonl")}) <= 10


def test_what_is_less_sure_than_the_floor_is_not_labeled(
    run: Run, folders: tuple[Path, Path], knowledge: Path, tmp_path: Path
) -> None:
    labels = tmp_path / "labels.jsonl"
    options = ("--knowledge", knowledge, "-k", "10", "--min-confidence", "1", "--method", "seed")
    done = run("label", folders[1], *options, "-o", labels)
    assert done.returncode == 1
    assert "Not found, so not labeled: title" in done.stdout
    assert read_labels(labels) == []
    done = run("learn", folders[1], "--schema", "movie", "--min-confidence", "0.9", "-o", tmp_path / "r.json")
    assert done.returncode == 2
    assert "--min-confidence need --knowledge" in done.stderr


def test_many_unlabeled_sites_in_one_call(run: Run, folders: tuple[Path, Path], tmp_path: Path) -> None:
    seed, new = folders
    sites = tmp_path / "sites"
    sites.mkdir()
    for name in ("a", "b"):
        (sites / name).symlink_to(new, target_is_directory=True)
    arguments = ("train", f"{seed}:{seed}/labels.jsonl", "--schema", "movie", "-o", tmp_path / "knowledge")
    done = run(*arguments, "--unlabeled", sites, new)
    assert done.returncode == 0, done.stderr
    assert "from 4 sites" in done.stderr


def test_unlabeled_sites_are_refused_where_they_are_of_no_use(
    run: Run, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    seed, new = folders
    arguments = ("train", f"{seed}:{seed}/labels.jsonl", "--schema", "movie", "-o", tmp_path / "knowledge")
    for method in ("segments", "anchors", "hcrf"):
        done = run(*arguments, "--method", method, "--unlabeled", new)
        assert done.returncode == 2
        assert f"method '{method}' cannot learn from unlabeled sites" in done.stderr
        assert done.stderr.count("\n") == 1


def test_learn_with_knowledge(run: Run, folders: tuple[Path, Path], knowledge: Path, tmp_path: Path) -> None:
    done = run("learn", folders[1], "--knowledge", knowledge, "-o", tmp_path / "rules.json")
    assert "Labels by knowledge of movie" in done.stderr
    assert "Rules are in" in done.stderr
    assert (tmp_path / "rules.json").is_file()


def test_a_persons_labels_come_first(
    run: Run, folders: tuple[Path, Path], knowledge: Path, tmp_path: Path
) -> None:
    done = run(
        *("learn", folders[1], "--knowledge", knowledge, "--labels", folders[1] / "labels.jsonl"),
        *("-o", tmp_path / "rules.json"),
    )
    assert "title" not in done.stderr.partition("Labels by knowledge")[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "pages/", "--schema", "movie", "-o", "k"), "needs its labels after a colon"),
        (("train", "pages/:no.jsonl", "--schema", "movie", "-o", "k"), "no.jsonl: cannot read the labels"),
        (("label", "pages/", "--knowledge", "nowhere", "-o", "l.jsonl"), "cannot read the knowledge"),
        (("label", "pages/", "--knowledge", "nowhere", "-o", "no/l.jsonl"), "there is no folder no"),
        (("learn", "pages/", "-o", "r.json"), "Missing option '--schema'"),
        (("label", "a/", "b/", "--knowledge", "k", "-o", "l.jsonl"), "give --together"),
    ],
)
def test_what_can_go_wrong(
    run: Run, arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_by_site_knowledge(run: Run, folders: tuple[Path, Path], knowledge: Path, tmp_path: Path) -> None:
    seed, new = folders
    site = f"{seed}:{seed}/labels.jsonl"
    done = run("train", site, "--schema", "movie", "--method", "segments", "-o", tmp_path / "nodes")
    assert done.returncode == 0
    labels = tmp_path / "labels.jsonl"
    for options in (
        ("--knowledge", tmp_path / "nodes"),
        ("--knowledge", knowledge, "--method", "seed+segments"),
    ):
        done = run("label", new, *options, "-o", labels)
        assert done.returncode in (0, 1)
        assert {label.source for label in read_labels(labels)} == {"segments"}
    done = run("label", new, "--knowledge", tmp_path / "nodes", "--method", "seed", "-o", labels)
    assert done.returncode == 2
    assert "train it anew with --method seed" in done.stderr
    done = run("label", new, "--knowledge", knowledge, "--method", "anchors", "-o", labels)
    assert done.returncode == 2
    assert "train it anew with --method anchors" in done.stderr


def test_scored_extractors_need_two_sites(run: Run, folders: tuple[Path, Path], tmp_path: Path) -> None:
    site = f"{folders[0]}:{folders[0]}/labels.jsonl"
    done = run("train", site, "--schema", "movie", "--method", "anchors", "-o", tmp_path / "knowledge")
    assert done.returncode == 2
    assert "two sites" in done.stderr
    assert not (tmp_path / "knowledge").exists()


def test_by_blocks(run: Run, folders: tuple[Path, Path], knowledge: Path, tmp_path: Path) -> None:
    seed, new = folders
    blocks, labels = tmp_path / "blocks", tmp_path / "labels.jsonl"
    done = run("train", f"{seed}:{seed}/labels.jsonl", "--schema", "movie", "--method", "hcrf", "-o", blocks)
    assert done.returncode == 0, done.stderr
    for options in ((), ("--method", "hcrf")):
        done = run("label", new, "--knowledge", blocks, *options, "-o", labels)
        assert done.returncode in (0, 1)
        assert {label.source for label in read_labels(labels)} == {"hcrf"}
    done = run("label", new, "--knowledge", knowledge, "--method", "hcrf", "-o", labels)
    assert done.returncode == 2
    assert "train it anew with --method hcrf" in done.stderr


def test_several_sites_together(
    run: Run, folders: tuple[Path, Path], knowledge: Path, tmp_path: Path
) -> None:
    sites, labels = tmp_path / "sites", tmp_path / "labels"
    sites.mkdir()
    for name in ("a", "b"):
        (sites / name).symlink_to(folders[1], target_is_directory=True)
    options = ("--together", "--knowledge", knowledge, "-k", "10", "-o", labels)
    done = run("label", sites, *options)
    assert done.returncode in (0, 1), done.stderr
    assert "a: 10 pages" in done.stdout
    assert sorted(path.name for path in labels.iterdir()) == ["a.jsonl", "b.jsonl"]
    assert {label.source for label in read_labels(labels / "a.jsonl")} == {"auto"}
    done = run("label", sites, *options, "--method", "seed+segments")
    assert done.returncode == 2
    assert "cannot label several sites together" in done.stderr
    done = run("label", sites / "a", "--knowledge", knowledge, "-o", labels)
    assert done.returncode == 2
    assert "name a file in it" in done.stderr
