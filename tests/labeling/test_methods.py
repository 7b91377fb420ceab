"""Whoever adds a method writes one class and one line of the registry: commands then offer it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from untemplate import Finding, Knowledge, Page, Schema, read_labels
from untemplate.cli import main
from untemplate.labeling.knowledge import METHODS, Method
from untemplate.labeling.methods import LabeledSite, Model

SHOP = Schema.load("product")
COUNT = 8


@dataclass(frozen=True)
class ToyModel:
    """Remembers the tag around each attribute's first labeled value."""

    tags: Mapping[str, str]

    @property
    def taught(self) -> Mapping[str, int]:
        return dict.fromkeys(self.tags, 1)

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> ToyModel:
        tags = {}
        for pages, labels in sites:
            nodes = {(page.id, node.text): node for page in pages for node in page.nodes if node.is_text}
            for label in labels:
                node = nodes.get((label.page, label.value or ""))
                if node is not None:
                    tags[label.attribute] = str(node.parent.tag)
        return cls(tags)

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        findings = []
        for name, tag in self.tags.items():
            places = [(page, node) for page in pages for node in page.nodes if node.parent.tag == tag]
            findings.append(Finding(name, 1.0, places, 1.0, bool(places), "toy"))
        return findings

    def save(self, folder: Path) -> None:
        (folder / "toy.json").write_text(json.dumps(self.tags), "utf-8")

    @classmethod
    def load(cls, folder: Path) -> ToyModel:
        return cls(json.loads((folder / "toy.json").read_text("utf-8")))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "toy", Method(ToyModel, "remember tags"))


def write_shop(folder: Path, things: str) -> Path:
    folder.mkdir()
    lines = []
    for number in range(COUNT):
        html = f"<title>Shop</title><h1>{things} {number}</h1><p>Costs <b>{number}.50 EUR</b></p>"
        (folder / f"{number}.html").write_text(html, "utf-8")
        labels = {"name": f"{things} {number}", "price": f"{number}.50 EUR"}
        lines.append(json.dumps({"page": f"{number}.html", "labels": labels}))
    (folder.parent / f"{folder.name}.jsonl").write_text("\n".join(lines), "utf-8")
    return folder


@pytest.mark.usefixtures("toy")
def test_a_new_method_is_trained_and_used_by_all_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed, new = write_shop(tmp_path / "lamps", "Lamp"), write_shop(tmp_path / "chairs", "Chair")
    knowledge, labels, rules = tmp_path / "knowledge", tmp_path / "labels.jsonl", tmp_path / "rules.json"

    site = f"{seed}:{seed}.jsonl"
    assert main(["train", site, "--schema", "product", "--method", "toy", "-o", str(knowledge)]) == 0
    assert {path.name for path in knowledge.iterdir()} == {"knowledge.json", "toy.json"}
    assert Knowledge.load(knowledge).method == "toy"

    assert main(["label", str(new), "--knowledge", str(knowledge), "-o", str(labels)]) in (0, 1)
    found = {(label.page, label.attribute, label.value, label.source) for label in read_labels(labels)}
    assert ("3.html", "name", "Chair 3", "toy") in found
    assert ("3.html", "price", "3.50 EUR", "toy") in found

    main(["learn", str(new), "--knowledge", str(knowledge), "-o", str(rules)])
    assert rules.is_file()
    capsys.readouterr()
    assert main(["train", "--help"]) == 0
    assert '"toy": remember tags' in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("toy")
def test_other_methods_cannot_use_its_knowledge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Knowledge(SHOP, ToyModel({"name": "h1"})).save(tmp_path / "knowledge")
    arguments = ["label", str(tmp_path), "--knowledge", str(tmp_path / "knowledge"), "--method", "seed"]
    assert main([*arguments, "-o", str(tmp_path / "labels.jsonl")]) == 2
    assert "train it anew with --method seed" in capsys.readouterr().err


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_all_of_a_model(name: str) -> None:
    method = METHODS[name]
    for part in ("taught", "find", "save", "train", "load"):
        assert hasattr(method.model, part) or part in getattr(method.model, "__dataclass_fields__", {})
    assert method.help
    assert set(method.reads) <= METHODS.keys()


def test_models_are_models() -> None:
    train: Callable[[ToyModel], Model] = lambda model: model  # noqa: E731  checked by mypy
    assert train(ToyModel({})).taught == {}
