"""The folder of knowledge: `knowledge.json` for what a person may read, `arrays.npz` for weights; no pickles."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from untemplate.errors import KnowledgeError, why
from untemplate.labeling.anchors import FEATURES as FEATURE_SETS
from untemplate.labeling.anchors import PAIR, Anchors, Features, Model, Scorer
from untemplate.labeling.hcrf.vertical import BlockModels
from untemplate.labeling.nodes.bags import SIZE
from untemplate.labeling.seed.models import AttributeModel, PartModel
from untemplate.labeling.seed.paper import FEATURES, SeedAttribute, SeedSite
from untemplate.labeling.seed.survey import PARTS, PROFILE
from untemplate.labeling.segments import CRF, NodeCRF
from untemplate.lists.hcrf.labels import Labels
from untemplate.lists.hcrf.model import Hcrf, Weights
from untemplate.schema import Attribute, Hints, HintsFile, Schema, Type, check_hints

__all__ = ["VERSION", "load_knowledge", "save_knowledge"]

VERSION = 2
JSON, ARRAYS = "knowledge.json", "arrays.npz"

_Arrays = dict[str, npt.NDArray[Any]]
_Loaded = tuple[
    Schema, dict[str, AttributeModel], list[SeedSite], NodeCRF | None, Anchors | None, BlockModels | None
]


def save_knowledge(
    folder: Path,
    schema: Schema,
    models: Mapping[str, AttributeModel],
    seeds: Sequence[SeedSite],
    nodes: NodeCRF | None,
    anchors: Anchors | None,
    blocks: BlockModels | None,
) -> None:
    """Write a folder; each file appears when it is complete, the readable one last."""
    arrays: _Arrays = {}
    content = {
        "untemplate": VERSION,
        "schema": {
            "name": schema.name,
            "attributes": [asdict(one) for one in schema.attributes.values()],
            "hints": {name: asdict(one) for name, one in schema.hints.items()},
        },
        "models": {name: _model_out(f"models/{name}", model, arrays) for name, model in models.items()},
        "seeds": [_seed_out(f"seeds/{number}", seed, arrays) for number, seed in enumerate(seeds)],
        **({"nodes": _nodes_out(nodes, arrays)} if nodes else {}),
        **({"anchors": _anchors_out(anchors, arrays)} if anchors else {}),
        **({"blocks": _blocks_out(blocks, arrays)} if blocks else {}),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{ARRAYS}.part").open("wb") as out:
            np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
        (folder / f"{ARRAYS}.part").replace(folder / ARRAYS)
        (folder / f"{JSON}.part").write_text(
            json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8"
        )
        (folder / f"{JSON}.part").replace(folder / JSON)
    except OSError as error:
        raise KnowledgeError(f"{folder}: cannot write the knowledge: {why(error)}") from error


def load_knowledge(folder: Path) -> _Loaded:
    """Read a folder; whatever does not fit is said in one line."""
    try:
        content = json.loads((folder / JSON).read_text("utf-8"))
        with np.load(folder / ARRAYS, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, BadZipFile, EOFError) as error:
        raise KnowledgeError(f"{folder}: cannot read the knowledge: {why(error)}") from error
    version = content.get("untemplate") if isinstance(content, dict) else None
    if not isinstance(version, int):
        raise KnowledgeError(f"{folder}: holds no knowledge; write some with `untemplate train`")
    if version > VERSION:
        raise KnowledgeError(f"{folder}: written by a newer untemplate (format {version}); upgrade this one")
    if version < VERSION:
        raise KnowledgeError(f"{folder}: written by an older untemplate (format {version}); train it anew")
    try:
        file_content = _File.model_validate(content)
        return file_content.build(_Reader(arrays))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise KnowledgeError(f"{folder}: at {place}: {first['msg']}") from error
    except ValueError as error:
        raise KnowledgeError(f"{folder}: {error}") from error


def _model_out(key: str, model: AttributeModel, arrays: _Arrays) -> dict[str, Any]:
    for name in ("profiles", "values", "others"):
        arrays[f"{key}/{name}"] = getattr(model, name)
    parts = {}
    for name, part in model.parts.items():
        arrays[f"{key}/{name}/indices"], arrays[f"{key}/{name}/weights"] = part.indices, part.weights
        parts[name] = {one: getattr(part, one) for one in ("intercept", "low", "high", "reliability")}
    return {"parts": parts, "bare": model.bare, "full": model.full}


def _seed_out(key: str, seed: SeedSite, arrays: _Arrays) -> dict[str, Any]:
    arrays[f"{key}/layout"] = seed.layout
    attributes = {}
    for name, known in seed.attributes.items():
        for one in ("mean_types", "high", "support", "dual"):
            arrays[f"{key}/{name}/{one}"] = getattr(known, one)
        attributes[name] = {
            "intercept": known.intercept,
            "frequencies": known.frequencies,
            "contexts": sorted(known.contexts),
        }
    return {"attributes": attributes}


def _nodes_out(nodes: NodeCRF, arrays: _Arrays) -> dict[str, Any]:
    arrays["nodes/weights"], arrays["nodes/transitions"] = nodes.crf.weights, nodes.crf.transitions
    named = {"labels": nodes.crf.labels, "features": nodes.crf.features}
    return {**named, "taught": dict(nodes.taught)}


def _anchors_out(anchors: Anchors, arrays: _Arrays) -> dict[str, Any]:
    for one in ("weights", "bias", "out"):
        arrays[f"anchors/{one}"] = getattr(anchors.scorer, one)
    return {
        "model": anchors.scorer.model,
        "features": anchors.features,
        "thresholds": dict(anchors.thresholds),
        "orders": [[*pair, share] for pair, share in anchors.orders.items()],
    }


def _blocks_out(blocks: BlockModels, arrays: _Arrays) -> dict[str, Any]:
    models = {"details": blocks.details, "lists": blocks.lists}
    written = {name: _hcrf_out(f"blocks/{name}", model, arrays) for name, model in models.items() if model}
    return {**written, "taught": dict(blocks.taught)}


def _hcrf_out(key: str, model: Hcrf, arrays: _Arrays) -> dict[str, Any]:
    for name, part in model.weights.rounded().items():
        arrays[f"{key}/{name}"] = part
    return asdict(model.labels)


class _Reader:
    """Arrays by name, checked: what is read comes from a file."""

    def __init__(self, arrays: _Arrays) -> None:
        self._arrays = arrays

    def get(self, name: str, kind: type[np.generic], shape: tuple[int | None, ...]) -> npt.NDArray[Any]:
        array = self._arrays.get(name)
        if array is None:
            raise ValueError(f"array {name!r} is missing")
        fits = len(array.shape) == len(shape) and all(
            want is None or size == want for size, want in zip(array.shape, shape, strict=True)
        )
        if array.dtype != np.dtype(kind) or not fits:
            raise ValueError(f"array {name!r} has the wrong type or shape")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"array {name!r} holds numbers that are none")
        return array


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class _Attribute(_Strict):
    name: str
    type: Type
    mandatory: bool
    constant: bool
    many: bool
    pattern: str | None


class _Schema(_Strict):
    name: str
    attributes: list[_Attribute]
    hints: dict[str, HintsFile] = {}

    def build(self) -> Schema:
        attributes = {one.name: Attribute(**vars(one)) for one in self.attributes}
        check_hints(attributes, self.hints)
        hints = {name: Hints(**vars(one)) for name, one in self.hints.items()}
        return Schema(self.name, attributes, hints=hints)


class _Part(_Strict):
    intercept: float
    low: float
    high: float
    reliability: float


class _Model(_Strict):
    parts: dict[str, _Part]
    bare: int
    full: int

    def build(self, key: str, reader: _Reader) -> AttributeModel:
        if set(self.parts) != set(PARTS):
            raise ValueError(f"{key}: expected the parts {', '.join(PARTS)}")
        parts = {}
        for name, part in self.parts.items():
            weights = reader.get(f"{key}/{name}/weights", np.float32, (None,))
            indices = reader.get(f"{key}/{name}/indices", np.int32, (len(weights),))
            if len(indices) and not 0 <= indices.min() <= indices.max() < SIZE:
                raise ValueError(f"array {key}/{name}/indices points beyond {SIZE:,}")
            parts[name] = PartModel(indices, weights, **vars(part))
        return AttributeModel(
            parts,
            reader.get(f"{key}/profiles", np.float32, (None, len(PROFILE))),
            reader.get(f"{key}/values", np.uint64, (None,)),
            reader.get(f"{key}/others", np.uint64, (None,)),
            self.bare,
            self.full,
        )


class _SeedAttribute(_Strict):
    intercept: float
    frequencies: dict[str, float]
    contexts: frozenset[str]

    def build(self, key: str, reader: _Reader) -> SeedAttribute:
        support = reader.get(f"{key}/support", np.float32, (None, len(FEATURES)))
        return SeedAttribute(
            mean_types=reader.get(f"{key}/mean_types", np.float32, (3,)),
            high=reader.get(f"{key}/high", np.float32, (3,)),
            support=support,
            dual=reader.get(f"{key}/dual", np.float32, (len(support),)),
            **vars(self),
        )


class _Seed(_Strict):
    attributes: dict[str, _SeedAttribute]

    def build(self, key: str, reader: _Reader) -> SeedSite:
        size = len(self.attributes)
        known = {name: one.build(f"{key}/{name}", reader) for name, one in self.attributes.items()}
        return SeedSite(known, reader.get(f"{key}/layout", np.float32, (size, size)))


class _Nodes(_Strict):
    labels: tuple[str, ...]
    features: tuple[str, ...]
    taught: dict[str, int]

    def build(self, reader: _Reader) -> NodeCRF:
        wide = len(self.labels)
        weights = reader.get("nodes/weights", np.float32, (len(self.features), wide))
        transitions = reader.get("nodes/transitions", np.float32, (wide, wide))
        return NodeCRF(CRF(self.labels, self.features, weights, transitions), self.taught)


class _Anchors(_Strict):
    model: Model
    features: Features
    thresholds: dict[str, float]
    orders: list[tuple[str, str, float]]

    def build(self, reader: _Reader) -> Anchors:
        tall = len(FEATURE_SETS[self.features].names) + 1 + len(PAIR)
        weights = reader.get("anchors/weights", np.float64, (tall, None))
        bias, out = (reader.get(f"anchors/{one}", np.float64, weights.shape[1:]) for one in ("bias", "out"))
        orders = {(first, second): share for first, second, share in self.orders}
        return Anchors(self.thresholds, orders, Scorer(self.model, weights, bias, out), self.features)


class _Hcrf(_Strict):
    attributes: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...]

    def build(self, key: str, reader: _Reader) -> Hcrf:
        labels = Labels(self.attributes, self.combinations)
        like = Weights.zeros(len(labels))
        parts = {
            name: reader.get(f"{key}/{name}", np.float16, one.shape) for name, one in like._asdict().items()
        }
        return Hcrf(labels, Weights(**{name: part.astype(np.float64) for name, part in parts.items()}))


class _Blocks(_Strict):
    details: _Hcrf | None = None
    lists: _Hcrf | None = None
    taught: dict[str, int]

    @property
    def attributes(self) -> set[str]:
        return {name for model in (self.details, self.lists) if model for name in model.attributes}

    def build(self, reader: _Reader) -> BlockModels:
        return BlockModels(
            self.details.build("blocks/details", reader) if self.details else None,
            self.lists.build("blocks/lists", reader) if self.lists else None,
            self.taught,
        )


class _File(_Strict):
    untemplate: int
    schema_: _Schema = Field(alias="schema")
    models: dict[str, _Model]
    seeds: list[_Seed]
    nodes: _Nodes | None = None
    anchors: _Anchors | None = None
    blocks: _Blocks | None = None

    def build(self, reader: _Reader) -> _Loaded:
        schema = self.schema_.build()
        of_blocks = self.blocks.attributes if self.blocks else ()
        of_seeds = (name for seed in self.seeds for name in seed.attributes)
        for name in (*self.models, *of_seeds, *of_blocks):
            if name not in schema.attributes:
                raise ValueError(f"{name!r} is none of the schema's attributes")
        if not self.models and not self.seeds and not self.nodes and not self.blocks:
            raise ValueError("neither models nor seeds")
        models = {name: model.build(f"models/{name}", reader) for name, model in self.models.items()}
        seeds = [seed.build(f"seeds/{n}", reader) for n, seed in enumerate(self.seeds)]
        nodes = self.nodes.build(reader) if self.nodes else None
        anchors = self.anchors.build(reader) if self.anchors else None
        return schema, models, seeds, nodes, anchors, self.blocks.build(reader) if self.blocks else None
