"""Knowledge of a vertical: what labelled seed sites teach, applied to sites that nobody has labelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from untemplate.errors import KnowledgeError, LabelError
from untemplate.labeling.anchors import Anchors, learn_lessons
from untemplate.labeling.finding import Finding, labels_of, merge
from untemplate.labeling.hcrf.details import find_details, read_details
from untemplate.labeling.hcrf.vertical import BlockModels, learn_blocks
from untemplate.labeling.label import Label
from untemplate.labeling.nodes import Fields, Ground
from untemplate.labeling.nodes.examples import Examples, find_examples, presume_examples
from untemplate.labeling.nodes.several import all_values
from untemplate.labeling.seed.evidence import EVIDENCE, gather
from untemplate.labeling.seed.models import NAME_ONLY, AttributeModel, learn_attribute
from untemplate.labeling.seed.paper import PaperSite, SeedSite, Step, adapt, learn_seed
from untemplate.labeling.seed.ranking import Rankers, ready_made
from untemplate.labeling.seed.solution import elsewhere, solve, together
from untemplate.labeling.seed.survey import Survey
from untemplate.labeling.segments import FromLabels, NodeCRF, SegmentLabeler, learn_nodes
from untemplate.labeling.storage import load_knowledge, save_knowledge
from untemplate.labeling.templates import MIN_TEMPLATE, MIN_TEMPLATE_SHARE, split, with_labels, without_lists
from untemplate.lists.hcrf.model import Hcrf
from untemplate.page import Page
from untemplate.page.arrays import Ints
from untemplate.schema import Schema

__all__ = ["Knowledge", "Method", "Way", "train"]

Method = Literal["best", "paper", "segments", "anchors", "hcrf"]
Way = Literal["seed", "segments", "anchors", "hcrf"]

# Below this chance to be right an attribute counts as not found on a site. On SWDE with one seed site, and rankers
# that saw other verticals only, 99 % of what is right is surer, and 79 % of what is wrong; of attributes that a site
# lacks 89 % are found all the same. At 0.5 it would be 96 %, 47 % and 68 %. Counted once, by no command.
MIN_CONFIDENCE = 0.2
# What is found with this confidence on a site that nobody labelled is learnt from.
SURE = 0.7
# As above, for the paper's method, whose relevance is no chance: the classifier takes it for an example.
RELEVANT = 0.5
# Pages without anything that is clearly found, or without what is mandatory, are a template of their own, if enough.
CLEAR = 0.5


@dataclass(frozen=True)
class Knowledge:
    """What seed sites taught about a vertical; a labeler.

    `models` are those of our method, its `rankers` know no vertical; `seeds` are those of the paper's, "From One Tree
    to a Forest", which goes up to a `step`; `nodes` is the node classifier of site knowledge;
    `anchors` choose and score extractors of a whole site, by the models; `blocks` label those of a page together.
    """

    schema: Schema
    models: Mapping[str, AttributeModel]
    seeds: Sequence[SeedSite] = ()
    step: Step = "PL+IP+IA"
    nodes: NodeCRF | None = None
    rankers: Rankers = field(default_factory=ready_made, repr=False)
    anchors: Anchors | None = None
    blocks: BlockModels | None = None

    @property
    def list_model(self) -> Hcrf:
        """The model that names the columns of lists, for `find_records`."""
        if not self.blocks or not self.blocks.lists:
            raise KnowledgeError(
                "this knowledge names no columns; train it anew with --method hcrf and labels of records"
            )
        return self.blocks.lists

    @property
    def method(self) -> Method:
        if self.blocks:
            return "hcrf"
        if self.anchors:
            return "anchors"
        return "segments" if self.nodes else "paper" if self.seeds else "best"

    def label(self, pages: Iterable[Page], way: Way | None = None) -> list[Label]:
        """The labels of pages of one site; attributes that the site does not seem to have get none."""
        return labels_of(self.find(pages, way))

    def find(self, pages: Iterable[Page], way: Way | None = None) -> list[Finding]:
        """Where each attribute of the schema stands on pages of one site, as far as it is known.

        Pages of each template are looked at by themselves, and those that list many records left out. The way is
        that of the method it was trained by. What fields of a seed site taught can also be corrected by site
        knowledge, `way="segments"`.
        """
        if way == "anchors" and not self.anchors:
            raise KnowledgeError("this knowledge scores no extractors; train it anew with --method anchors")
        if way == "seed" and self.nodes:
            raise KnowledgeError("this knowledge is of nodes only; train it anew without --method segments")
        if way == "hcrf" and not self.blocks:
            raise KnowledgeError("this knowledge labels no blocks; train it anew with --method hcrf")
        if way == "seed" and self.blocks:
            raise KnowledgeError("this knowledge is of blocks only; train it anew without --method hcrf")
        templates = split(list(pages))
        found = [self._find_on(template, way) for template in templates]
        kept = without_lists(found, self.schema)
        count = sum(len(templates[number]) for number in kept)
        same = zip(*(found[number] for number in kept), strict=True)
        return self._in_order([merge(findings, count) for findings in same])

    def _find_on(self, pages: Sequence[Page], way: Way | None) -> list[Finding]:
        """Find on pages of one template."""
        if way == "segments" or self.nodes:
            return SegmentLabeler(self.schema, self.nodes or FromLabels(self)).find(pages)
        if self.seeds:
            return self._find_as_paper(pages)
        if self.blocks:
            return self._find_again(pages, self._find_blocks)
        by_anchors = self.anchors and way != "seed"
        return self._find_again(pages, self._find_by_anchors if by_anchors else self._find_by_evidence)

    def _find_again(
        self, pages: Sequence[Page], find: Callable[[Sequence[Page]], Iterable[Finding]]
    ) -> list[Finding]:
        """Find on all pages; then, as long as many are not done, on those as a template by itself."""
        found: dict[str, list[Finding]] = {}
        rest, least = pages, max(MIN_TEMPLATE, MIN_TEMPLATE_SHARE * len(pages))
        while rest:
            findings = list(find(rest))
            done = self._done(findings)
            others = [page for page in rest if id(page) not in done]
            is_last = not done or len(others) < least
            for finding in findings:
                found.setdefault(finding.attribute, []).append(finding if is_last else finding.on(done))
            rest = [] if is_last else others
        return self._in_order([merge(findings, len(pages)) for findings in found.values()])

    def _done(self, findings: Sequence[Finding]) -> set[int]:
        """The pages, by `id()`, with something that is clear and with all that is mandatory and found on others."""
        done = {id(page) for one in findings if one.confidence >= CLEAR for page, _ in one.places}
        for one in findings:
            if one.found and self.schema.attributes[one.attribute].mandatory:
                done &= {id(page) for page, _ in one.places}
        return done

    def _find_by_evidence(self, pages: Sequence[Page]) -> Iterator[Finding]:
        survey = Survey(pages, self.schema)
        for name, best in solve(survey, self.models, self.schema, self.rankers).items():
            yield self._finding(survey, name, best.rows, best.confidence)

    def _find_by_anchors(self, pages: Sequence[Page]) -> Iterator[Finding]:
        assert self.anchors is not None
        survey = Survey(pages, self.schema)
        for name, best in self.anchors.choose(survey, self.schema, self.models, self.rankers).items():
            attribute, model = self.schema.attributes[name], self.models[name]
            fields = survey.candidates(attribute, model.spans_nodes)
            evidence = gather(survey, fields, attribute, model)
            score = self.rankers.score(evidence, EVIDENCE)
            others = elsewhere(survey, fields, evidence, score, best.rows, self.rankers)
            rows, confidence = together([(best.rows, best.confidence), *others])
            yield replace(self._finding(survey, name, rows, confidence), source="anchors")

    def _find_blocks(self, pages: Sequence[Page]) -> list[Finding]:
        if not self.blocks or not self.blocks.details:
            raise KnowledgeError("this knowledge is of lists only; to train it for pages, label pages too")
        return find_details(self.blocks.details, self.schema, read_details(pages))

    def _finding(self, survey: Survey, name: str, rows: Ints, confidence: float) -> Finding:
        ground = survey.ground
        if self.schema.attributes[name].many:
            rows = all_values(ground, rows)
        found = _finding(ground, name, rows, confidence, confidence >= MIN_CONFIDENCE)
        if not self._leaves_out_labels(name):
            return found
        type = self.schema.attributes[name].type
        texts = [survey.fields.bare(row, type) for row in rows.tolist()]
        cut = [(page, node.with_text(text)) for (page, node), text in zip(found.places, texts, strict=True)]
        return replace(found, places=cut)

    def _leaves_out_labels(self, name: str) -> bool:
        """Whether who labelled the seed sites left out labels that stand in the text of a value, such as `Tel:`."""
        own = self.models.get(name, NAME_ONLY)
        asked = [own] if own.bare + own.full else self.models.values()
        return sum(model.bare for model in asked) > sum(model.full for model in asked)

    def _find_as_paper(self, pages: Sequence[Page]) -> list[Finding]:
        site = PaperSite(pages)
        adapted = adapt(site, self.seeds, self.step)
        return self._in_order(
            [
                _finding(site.ground, name, rows, adapted.relevance[name], True)
                for name, rows in adapted.rows.items()
            ]
        )

    def _in_order(self, findings: Sequence[Finding]) -> list[Finding]:
        by_name = {finding.attribute: finding for finding in findings}
        return [by_name.get(name) or Finding(name, 0.0, (), 0.0, False) for name in self.schema.attributes]

    def seed_sites(self, attribute: str) -> int:
        """How many seed sites taught an attribute."""
        if self.blocks:
            return self.blocks.taught.get(attribute, 0)
        if self.nodes:
            return self.nodes.taught.get(attribute, 0)
        if self.seeds:
            return sum(attribute in seed.attributes for seed in self.seeds)
        return len(self.models[attribute].profiles) if attribute in self.models else 0

    def save(self, folder: str | Path) -> None:
        """Write the knowledge as a folder of JSON and NumPy arrays."""
        save_knowledge(
            Path(folder), self.schema, self.models, self.seeds, self.nodes, self.anchors, self.blocks
        )

    @classmethod
    def load(cls, folder: str | Path) -> Knowledge:
        """Read a folder of knowledge; KnowledgeError says what is wrong with a broken or newer one."""
        schema, models, seeds, nodes, anchors, blocks = load_knowledge(Path(folder))
        return cls(schema, models, seeds, nodes=nodes, anchors=anchors, blocks=blocks)


def train(
    sites: Iterable[tuple[Iterable[Page], Iterable[Label]]],
    schema: Schema,
    method: Method = "best",
    unlabeled: Iterable[Iterable[Page]] = (),
    rankers: Rankers | None = None,
) -> Knowledge:
    """Learn a vertical from labelled seed sites, each its pages and labels.

    Other sites of the vertical that nobody has labelled teach more of it: what is surely found on them is learnt as
    if it were labelled. Other rankers than those of the package are for benchmarks, which hold sites back.
    """
    rankers = rankers or ready_made()
    seeds = [(with_labels(list(pages), own), own) for pages, labels in sites for own in [list(labels)]]
    if method == "segments":
        return Knowledge(schema, {}, nodes=learn_nodes(seeds, schema))
    if method == "hcrf":
        return Knowledge(schema, {}, blocks=learn_blocks(seeds, schema))
    if method == "anchors":
        lessons = learn_lessons(seeds, schema, rankers)
        return Knowledge(schema, lessons.models, rankers=rankers, anchors=lessons.fit())
    if method == "paper":
        known = [_learn_as_paper(pages, labels, schema) for pages, labels in seeds]
        others = [_bootstrap_as_paper(list(pages), known) for pages in unlabeled]
        return Knowledge(schema, {}, [*known, *(seed for seed in others if seed is not None)])
    examples: _Examples = {}
    for pages, labels in seeds:
        survey = Survey(pages, schema)
        for name, attribute in schema.attributes.items():
            found = find_examples(survey.fields, labels, attribute)
            if found is not None:
                examples.setdefault(name, []).append((survey, found))
    if not examples:
        raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
    models = {name: learn_attribute(found) for name, found in examples.items()}
    surveys = [Survey(pages, schema) for pages in unlabeled]
    for survey in surveys:
        for name, best in solve(survey, models, schema, rankers).items():
            if best.confidence >= SURE:
                found = presume_examples(survey.fields, best.field)
                examples.setdefault(name, []).append((survey, found))
    if surveys:
        models = {name: learn_attribute(found) for name, found in examples.items()}
    return Knowledge(schema, models, rankers=rankers)


_Examples = dict[str, list[tuple[Survey, Examples]]]


def _learn_as_paper(pages: Sequence[Page], labels: Sequence[Label], schema: Schema) -> SeedSite:
    site = PaperSite(pages)
    fields = Fields(site.ground)
    found = {name: find_examples(fields, labels, one) for name, one in schema.attributes.items()}
    positive = {name: examples.positive for name, examples in found.items() if examples is not None}
    if not positive:
        raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
    return learn_seed(site, positive)


def _bootstrap_as_paper(pages: Sequence[Page], seeds: Sequence[SeedSite]) -> SeedSite | None:
    """A site nobody labelled as a seed of its own, if what is found on it is surely right: the paper's strategy."""
    site = PaperSite(pages)
    adapted = adapt(site, seeds)
    positive = {}
    for name, rows in adapted.rows.items():
        if adapted.relevance[name] >= RELEVANT:
            positive[name] = np.zeros(len(site.ground), np.bool_)
            positive[name][rows] = True
    return learn_seed(site, positive) if positive else None


def _finding(ground: Ground, name: str, rows: Ints, confidence: float, sure: bool) -> Finding:
    places = [(ground.pages[ground.page[row]], ground.rows[row]) for row in rows.tolist()]
    share = len(np.unique(ground.page[rows])) / max(1, len(ground.pages))
    return Finding(name, confidence, places, share, sure)
