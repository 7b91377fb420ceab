"""Knowledge of a vertical: a schema and a trained model, and the one registry of methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from untemplate.errors import KnowledgeError, MissingExtra, why
from untemplate.labeling.anchors import AnchorsModel
from untemplate.labeling.anchors.extractor_scoring import SCORERS
from untemplate.labeling.auto_model import AutoModel
from untemplate.labeling.files import read_labels
from untemplate.labeling.hcrf.hcrf_model import HcrfModel
from untemplate.labeling.label import Finding, Label, labels_of
from untemplate.labeling.methods import Model, StrictFile, VotingModel, read_json, write_json
from untemplate.labeling.seed.paper_model import PaperModel
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.segments import CorrectedSeedModel, SegmentsModel
from untemplate.labeling.site_templates import find_on_site, pages_of_labeled_templates
from untemplate.lists.hcrf import Hcrf
from untemplate.page import Page
from untemplate.schema import Attribute, Hints, Schema, Type
from untemplate.schema_files import HintsFile, check_hints
from untemplate.sources import as_pages

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "Knowledge",
    "Method",
    "check_learns_unlabeled",
    "check_options",
    "train",
]

# The version of the folder's format. Knowledge of an older version has to be trained again.
VERSION = 4
FILE = "knowledge.json"


@dataclass(frozen=True)
class Method:
    """A way to learn a vertical from labeled sites: an entry of the registry."""

    model: type[Model]
    #: One line for `--help`.
    help: str
    #: Other methods whose knowledge this one can use as well, because their folder contains its files.
    reads: tuple[str, ...] = ()
    #: Whether it also looks for attributes that no site taught, by their name.
    finds_by_name: bool = False
    #: Whether it can learn from other sites of the vertical that nobody labeled.
    learns_unlabeled: bool = False
    #: Options of its training, and their values; the first one is the default.
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


METHODS: dict[str, Method] = {
    "auto": Method(
        AutoModel,
        "all evidence at once: seed sites, the page's own data, and whether they agree",
        finds_by_name=True,
        learns_unlabeled=True,
    ),
    "seed": Method(
        SeedModel,
        "seed sites only; one is enough",
        ("auto", "anchors", "seed+segments"),
        finds_by_name=True,
        learns_unlabeled=True,
    ),
    "paper": Method(PaperModel, '"From One Tree to a Forest" as published', learns_unlabeled=True),
    "segments": Method(
        SegmentsModel,
        "classify nodes, and correct the labels by what the new site repeats",
        options={"features": ("ours", "paper")},
    ),
    "seed+segments": Method(
        CorrectedSeedModel,
        "seed, its labels corrected as in segments",
        ("auto", "seed", "anchors"),
        finds_by_name=True,
        learns_unlabeled=True,
    ),
    "anchors": Method(
        AnchorsModel,
        "score extractors of a whole site; needs two labeled sites or more",
        options={"features": ("ours", "paper"), "ranker": SCORERS},
    ),
    "hcrf": Method(HcrfModel, "label all blocks of a page together; also names the columns of lists"),
}
"""All methods by name. A new entry appears in `untemplate train`, `label` and `learn`."""

DEFAULT_METHOD = "auto"


@dataclass(frozen=True)
class Knowledge:
    """What labeled sites taught about a vertical: its schema and a trained model. A labeler.

    `train` makes it; then it labels other sites of the vertical, and those labels teach rules.

    Example:
        >>> import untemplate as ut
        >>> from untemplate.demo import make_site
        >>> seed = make_site("movie", 101, 30)
        >>> knowledge = ut.train([(seed.pages, seed.labels)], seed.schema)
        >>> new_site = make_site("movie", 102, 30)
        >>> labels = knowledge.label(new_site.pages)
        >>> sorted({label.attribute for label in labels})[0]
        'director'
    """

    schema: Schema
    model: Model

    def __repr__(self) -> str:
        taught = ", ".join(f"{name} from {count} sites" for name, count in self.model.taught.items())
        return f"Knowledge({self.schema.name}: {taught})"

    @property
    def method(self) -> str:
        """The name of the method in the registry.

        Raises:
            KnowledgeError: The model belongs to no registered method.
        """
        for name, method in METHODS.items():
            if type(self.model) is method.model:
                return name
        raise KnowledgeError(f"{type(self.model).__name__} belongs to no method: add it to METHODS")

    @property
    def list_model(self) -> Hcrf:
        """The model that names the columns of lists, for `find_records`.

        Raises:
            KnowledgeError: The knowledge was trained by another method, or without labels of list pages.
        """
        if not isinstance(self.model, HcrfModel) or not self.model.lists:
            raise KnowledgeError(
                "this knowledge names no columns; train it anew with --method hcrf and labels of records"
            )
        return self.model.lists

    def label(self, pages: Iterable[Page] | str | Path) -> list[Label]:
        """Return the labels of pages of one site, or of a source; none for attributes it does not seem to have."""
        return labels_of(self.find(as_pages(pages)))

    def find(self, pages: Iterable[Page]) -> list[Finding]:
        """Return a finding for each attribute of the schema: where it is on pages of one site, and how sure that is.

        Each template of the site is searched by itself. Templates that list many records are ignored.
        """
        return find_on_site(self.model, list(pages), self.schema)

    def find_together(self, sites: Iterable[Iterable[Page]]) -> list[list[Finding]]:
        """Return the findings on each of several sites of the vertical, as `find` does for one.

        What is surely found on the other sites teaches each site, never what is found on itself.

        Raises:
            KnowledgeError: Sites cannot teach each other by this method.
        """
        if not isinstance(self.model, VotingModel):
            raise KnowledgeError(
                f"method {self.method!r} cannot label several sites together; label one by one"
            )
        all_pages = [list(pages) for pages in sites]
        models = self.model.teach_together(all_pages, self.schema)
        return [
            find_on_site(model, pages, self.schema) for model, pages in zip(models, all_pages, strict=True)
        ]

    def seed_sites(self, attribute: str) -> int:
        """Return how many sites taught an attribute."""
        return self.model.taught.get(attribute, 0)

    def save(self, folder: str | Path) -> None:
        """Write the knowledge as a folder of JSON and NumPy arrays.

        Raises:
            KnowledgeError: The folder cannot be written.
        """
        folder = Path(folder)
        content = {"untemplate": VERSION, "method": self.method, "schema": _schema_content(self.schema)}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.model.save(folder)
            write_json(folder / FILE, content)  # last: without it the folder counts as incomplete
        except OSError as error:
            raise KnowledgeError(f"{folder}: cannot write the knowledge: {why(error)}") from error

    @classmethod
    def load(cls, folder: str | Path, method: str | None = None) -> Knowledge:
        """Read a folder of knowledge.

        Args:
            folder: What `save` or `untemplate train` wrote.
            method: Another method than the one it was trained by, if that can use its files.

        Raises:
            KnowledgeError: The folder is missing, broken, of another version, or unusable for this method.
        """
        folder = Path(folder)
        content = read_json(folder, FILE)
        version = content.get("untemplate") if isinstance(content, dict) else None
        _check_version(folder, version)
        try:
            file = _KnowledgeFile.model_validate(content)
            schema = file.schema_.build()
            model = _choose_method(file.method, method or file.method).model.load(folder)
            for name in model.taught:
                if name not in schema.attributes:
                    raise ValueError(f"{name!r} is none of the schema's attributes")
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise KnowledgeError(f"{folder}: at {place}: {first['msg']}") from error
        except ValueError as error:
            raise KnowledgeError(f"{folder}: {error}") from error
        return cls(schema, model)


def train(
    sites: Iterable[tuple[Iterable[Page] | str | Path, Iterable[Label] | str | Path]],
    schema: Schema | str | Path,
    method: str = DEFAULT_METHOD,
    unlabeled: Iterable[Iterable[Page]] = (),
    **options: str,
) -> Knowledge:
    """Learn a vertical from labeled sites, to label other sites of it.

    Args:
        sites: Labeled sites, each its pages and their labels, or the paths of both. Dozens of labeled pages of one
            site are enough.
        schema: The attributes to learn, a schema file, or the name of a ready-made schema.
        method: A name in `METHODS`, such as "seed" or "hcrf".
        unlabeled: Pages of other sites of the vertical. What is surely found there is learned.
        options: Options of the method, such as `features="paper"` for "segments" and "anchors".

    Raises:
        LabelError: No label matches a text on the pages of its site, or the method needs more sites.
        KnowledgeError: There is no such method, it cannot learn from unlabeled sites, or has no such option.
        MissingExtra: The libraries for training are not installed.

    Example:
        >>> import untemplate as ut
        >>> from untemplate.demo import make_site
        >>> site = make_site("book", 7, 30)
        >>> knowledge = ut.train([(site.pages, site.labels)], site.schema)
        >>> knowledge.method, knowledge.seed_sites("title")
        ('auto', 1)
    """
    if find_spec("scipy") is None or find_spec("sklearn") is None:
        raise MissingExtra("models", "Training of models")
    if method not in METHODS:
        raise KnowledgeError(f"there is no method {method!r}; choose one of {', '.join(METHODS)}")
    unlabeled_sites = [list(pages) for pages in unlabeled]
    if unlabeled_sites:
        check_learns_unlabeled(method)
    check_options(method, options)
    if isinstance(schema, str | Path):
        schema = Schema.load(schema)
    labeled_sites = []
    for pages, labels in sites:
        site_labels = read_labels(labels) if isinstance(labels, str | Path) else list(labels)
        site_pages = pages_of_labeled_templates(list(as_pages(pages)), site_labels)
        labeled_sites.append((site_pages, site_labels))
    train_model: Callable[..., Model] = METHODS[method].model.train
    return Knowledge(schema, train_model(labeled_sites, schema, unlabeled_sites, **options))


def check_learns_unlabeled(method: str) -> None:
    """Raise KnowledgeError if a method cannot learn from sites that nobody labeled."""
    if not METHODS[method].learns_unlabeled:
        able = [name for name, entry in METHODS.items() if entry.learns_unlabeled]
        raise KnowledgeError(
            f"method {method!r} cannot learn from unlabeled sites; leave them out, or choose {', '.join(able)}"
        )


def check_options(method: str, options: Mapping[str, str]) -> None:
    """Raise KnowledgeError if a method has no such option, or the option no such value."""
    for name, value in options.items():
        values = METHODS[method].options.get(name)
        if values is None:
            able = [other for other, entry in METHODS.items() if name in entry.options]
            raise KnowledgeError(
                f"method {method!r} has no option {name!r}; leave it out, or choose {', '.join(able) or 'another'}"
            )
        if value not in values:
            raise KnowledgeError(f"there is no {name} {value!r}; choose one of {', '.join(values)}")


# The file


class _AttributeFile(StrictFile):
    name: str
    type: Type
    mandatory: bool
    constant: bool
    many: bool
    pattern: str | None
    same_as: tuple[str, ...] = Field((), strict=False)
    captions: tuple[str, ...] = Field((), strict=False)
    description: str = ""


class _SchemaFile(StrictFile):
    name: str
    attributes: list[_AttributeFile]
    hints: dict[str, HintsFile] = Field(default_factory=dict)

    def build(self) -> Schema:
        attributes = {attribute.name: Attribute(**vars(attribute)) for attribute in self.attributes}
        check_hints(attributes, self.hints)
        hints = {name: Hints(**vars(content)) for name, content in self.hints.items()}
        return Schema(self.name, attributes, hints=hints)


class _KnowledgeFile(StrictFile):
    untemplate: int
    method: str
    schema_: _SchemaFile = Field(alias="schema")


def _schema_content(schema: Schema) -> dict[str, Any]:
    return {
        "name": schema.name,
        "attributes": [asdict(attribute) for attribute in schema.attributes.values()],
        "hints": {name: asdict(hints) for name, hints in schema.hints.items()},
    }


def _check_version(folder: Path, version: object) -> None:
    if not isinstance(version, int):
        raise KnowledgeError(f"{folder}: contains no knowledge; write some with `untemplate train`")
    if version > VERSION:
        raise KnowledgeError(f"{folder}: written by a newer untemplate (format {version}); upgrade this one")
    if version < VERSION:
        raise KnowledgeError(f"{folder}: written by an older untemplate (format {version}); train it anew")


def _choose_method(trained: str, wanted: str) -> Method:
    """Return the method to use; ValueError if knowledge trained by another one is of no use to it."""
    if trained not in METHODS:
        raise ValueError(f"trained by method {trained!r}, which this untemplate does not have")
    if wanted not in METHODS:
        raise ValueError(f"there is no method {wanted!r}; choose one of {', '.join(METHODS)}")
    method = METHODS[wanted]
    if wanted != trained and trained not in method.reads:
        raise ValueError(
            f"trained by method {trained!r}; to label by {wanted!r}, train it anew with --method {wanted}"
        )
    return method
