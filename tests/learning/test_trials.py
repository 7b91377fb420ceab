"""Rules on made-up sites that leave one clue: how many values come out right and wrong."""

from __future__ import annotations

from tests.learning.trials import BOX_LAYOUTS, count_outcomes, made_up_counts, made_up_infoboxes


def test_facts_in_any_order_that_only_the_next_text_tells_apart() -> None:
    """The paper's search over all labeled nodes alone had 426 of 480 right; before it competed, rules had 45."""
    right, wrong, judged = count_outcomes([made_up_counts(seed) for seed in range(8)])
    assert judged == 480
    assert right >= 430
    assert wrong <= 30


def test_optional_rows_whose_captions_have_no_colon() -> None:
    """Before captions were recognized by how texts repeat at their place, a fifth of the values was wrong."""
    trials = [made_up_infoboxes(seed) for seed in range(len(BOX_LAYOUTS))]
    right, wrong, judged = count_outcomes(trials)
    assert right >= 0.99 * judged
    assert wrong <= 0.005 * judged


def test_colons_make_no_difference() -> None:
    seeds = range(len(BOX_LAYOUTS), 2 * len(BOX_LAYOUTS))
    with_colons = count_outcomes([made_up_infoboxes(seed, colons=True) for seed in seeds])
    assert count_outcomes([made_up_infoboxes(seed) for seed in seeds]) == with_colons
