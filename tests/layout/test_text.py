"""How wide texts are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate.layout.text import SPACE, text_widths
from untemplate.page import squeeze

TEXTS = st.lists(st.text(min_size=1).map(squeeze).filter(bool), max_size=8)


@settings(deadline=None)
@given(TEXTS)
def test_each_text_is_measured_by_itself(texts: list[str]) -> None:
    together = text_widths(texts)
    alone = [text_widths([text]) for text in texts]
    assert together.whole == pytest.approx([one.whole[0] for one in alone])
    assert together.longest == pytest.approx([one.longest[0] for one in alone])


@settings(deadline=None)
@given(TEXTS)
def test_a_text_is_as_wide_as_its_words_and_blanks(texts: list[str]) -> None:
    measured = text_widths(texts)
    assert measured.starts[-1] == len(measured.words)
    for row, text in enumerate(texts):
        words = measured.words[measured.starts[row] : measured.starts[row + 1]]
        assert len(words) == text.count(" ") + 1
        assert measured.whole[row] == pytest.approx(words.sum() + SPACE * text.count(" "))
        assert measured.longest[row] == words.max()


def test_letters_differ() -> None:
    narrow, wide, ideographs, combined = text_widths(["iiii", "MMMM", "漢字漢字", "e\u0301"]).whole
    assert narrow < wide < ideographs == 4
    assert combined == pytest.approx(text_widths(["e"]).whole[0])
    assert np.isfinite(text_widths(["😀 \ud800x"]).whole).all()
