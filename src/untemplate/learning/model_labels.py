"""The labels of a site by a language model: which pages it is asked about, and which of its labels are kept.

Each template is asked about one page first. If the model finds nothing there, the template shows other things, and no
more is asked about it. The answers about the other pages are compared with each other by `confirm_labels`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from untemplate.clustering import Cluster
from untemplate.labeling import Label
from untemplate.labeling.llm import Estimate, ModelLabeler
from untemplate.learning.cluster_rules import is_moderate
from untemplate.learning.outvoting import ConfirmedLabels, confirm_labels
from untemplate.page import Page
from untemplate.page.outline import SiteWords, find_site_words
from untemplate.sampling import sample

__all__ = ["TemplateQuestions", "ask_about_site", "choose_pages", "estimate_questions", "plan_questions"]

# Templates of a site that are asked about, the most important first.
MAX_TEMPLATES = 6
# Pages of a template whose common texts are folded.
MAX_WORD_PAGES = 20


@dataclass(frozen=True)
class TemplateQuestions:
    """What is asked about one template.

    Attributes:
        cluster: the name of the template.
        pages: the pages to ask about, the best first.
        others: other pages of the template.
        site_words: what its pages have in common.
    """

    cluster: str
    pages: Sequence[Page]
    others: Sequence[Page]
    site_words: SiteWords


def plan_questions(clusters: Iterable[Cluster], k: int) -> list[TemplateQuestions]:
    """Return the questions about the most important templates of a site, `k` pages each."""
    important = sorted(clusters, key=lambda cluster: cluster.importance, reverse=True)
    return [_plan_template(cluster, k) for cluster in important[:MAX_TEMPLATES]]


def choose_pages(pages: Iterable[Page], k: int) -> list[Page]:
    """Return `k` pages of a template to label: those that differ most, then others at equal distances.

    `sample` returns fewer where one page shows everything, but labels of one page cannot be compared with others.
    """
    candidates = [page for page in pages if is_moderate(page)]
    chosen = sample(candidates, k)
    rest = [page for page in candidates if page not in chosen]
    missing = k - len(chosen)
    return [*chosen, *rest[:: max(1, len(rest) // max(1, missing))][:missing]]


def _plan_template(cluster: Cluster, k: int) -> TemplateQuestions:
    chosen = choose_pages(cluster.pages, k)
    others = [page for page in cluster.pages if page not in chosen and is_moderate(page)][:MAX_WORD_PAGES]
    return TemplateQuestions(cluster.id, chosen, others, find_site_words([*chosen, *others]))


def estimate_questions(plan: Iterable[TemplateQuestions], labeler: ModelLabeler) -> Estimate:
    """Return what the questions cost if each is asked once."""
    total = Estimate(0, 0, 0)
    for template in plan:
        total += labeler.estimate(template.pages, template.site_words)
    return total


def ask_about_site(plan: Iterable[TemplateQuestions], labeler: ModelLabeler) -> ConfirmedLabels:
    """Ask the questions, and return the labels that rules of other pages support."""
    confirmed = ConfirmedLabels()
    for template in plan:
        confirmed += _ask_about_template(template, labeler)
    return confirmed


def _ask_about_template(template: TemplateQuestions, labeler: ModelLabeler) -> ConfirmedLabels:
    labels = labeler.ask(template.pages[:1], template.site_words)
    if labels and all(label.is_gap for label in labels):
        return ConfirmedLabels()
    labels += labeler.ask(template.pages[1:], template.site_words)

    def ask_again(first: Page, second: Page, name: str) -> list[Label]:
        return labeler.compare(first, second, name, template.site_words)

    return confirm_labels(template.pages, labels, labeler.schema, template.others, ask_again)
