"""The vote of descriptions on unlabeled pages: which becomes the rule, and which page should be labeled."""

from __future__ import annotations

from tests.learning.lessons import site
from untemplate.learning import SampleTable
from untemplate.learning.list_election import LearnedList, ListCandidate, elect_list, keys_on
from untemplate.rules.feature import Feature
from untemplate.rules.rule import Selector

ITEMS = Feature("class", 1, ("item",))
LEAVES = Feature("tag", 1, ("li",))
BOLD = Feature("tag", 1, ("b",))


def page_of(name: str, extra: str = "") -> str:
    items = "".join(f"<li class=item>{name} {number}</li>" for number in range(3))
    return f"<ul>{items}</ul>{extra}"


def candidate(
    table: SampleTable, feature: Feature, kind: str, region: str = "page", climbed: int = -1
) -> ListCandidate:
    bits = table.bits([feature]) & table.node_bits["text()"]
    return ListCandidate(Selector("text()", (feature,)), bits, (kind, region), climbed, is_exact=True)


def elect(bodies: list[str], *described: tuple[Feature, str]) -> LearnedList:
    """Return what wins if the first page is labeled, and its items are the members."""
    table = SampleTable(site(bodies))
    candidates = [candidate(table, feature, kind) for feature, kind in described]
    return elect_list(table, candidates, {0: {keys_on(table, candidates[0], 0)}})


def test_what_a_candidate_selects() -> None:
    table = SampleTable(site([page_of("Tea"), page_of("Egg", "<li>More</li>")]))
    assert keys_on(table, candidate(table, ITEMS, "class"), 1) == ("egg0", "egg1", "egg2")
    assert keys_on(table, candidate(table, LEAVES, "tag"), 1) == ("egg0", "egg1", "egg2", "more")


def test_the_description_that_selects_the_winning_lists_becomes_the_rule() -> None:
    bodies = [page_of("Tea"), page_of("Egg", "<li>Next dish</li>"), page_of("Oil")]
    learned = elect(bodies, (LEAVES, "tag"), (ITEMS, "class"))
    assert [selector.features for selector in learned.selectors] == [(ITEMS,), (LEAVES,)]
    assert [selector.features for selector in learned.committee] == [(LEAVES,)]
    assert learned.selectors[0].support == learned.coverage == 1


def test_one_without_a_selection_has_no_vote() -> None:
    learned = elect(
        [page_of("Tea", "<b>x</b>"), page_of("Egg"), page_of("Oil")], (ITEMS, "class"), (BOLD, "tag")
    )
    assert learned.disputed is None
    assert [selector.support for selector in learned.selectors] == [1, 0]


def test_the_page_with_the_smallest_majority_is_in_dispute() -> None:
    bodies = [page_of("Tea"), page_of("Egg"), page_of("Oil", "<b>a</b><i>b</i>")]
    described = [(ITEMS, "class"), (BOLD, "tag"), (Feature("tag", 1, ("i",)), "tag")]
    assert elect(bodies, *described).disputed == 2
    assert elect(bodies, *described[:2]).disputed is None


def test_a_text_of_most_pages_belongs_to_the_template() -> None:
    bodies = [
        page_of(name, "<li>More</li>" if name != "Tea" else "")
        for name in ("Tea", "Egg", "Oil", "Rye", "Fig")
    ]
    learned = elect(bodies, (LEAVES, "tag"))
    assert learned.coverage == 0


def test_a_page_whose_list_looks_different_is_named() -> None:
    step = "<li class=item>Whisk the eggs with sugar until the mixture is thick and pale.</li>"
    titled = f"<ul><li class=item>For the sauce:</li>{step * 2}</ul>"
    assert elect([step * 3, step * 2, titled], (ITEMS, "class")).other_look == 2
    assert elect([step * 3, step * 2], (ITEMS, "class")).other_look is None


def test_without_unlabeled_pages_nothing_is_in_dispute() -> None:
    learned = elect([page_of("Tea")], (ITEMS, "class"))
    assert (learned.coverage, learned.disputed, learned.other_look) == (1, None, None)
