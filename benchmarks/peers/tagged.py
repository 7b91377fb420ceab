"""webstruct: a CRF over the words of a page, with those of its features that are not words, and their places.

The features of its example name words; with one or two labeled pages the CRF learns these by heart, and is
far better without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lxml.html
from webstruct import HtmlTokenizer, create_crfsuite_pipeline
from webstruct.features import bias, borders, parent_tag

from benchmarks.peers.reading import Example, Extract, Place, choose_places, clean

# More rounds change nothing on the labeled pages and cost minutes a site.
_ROUNDS = 60


def learn(examples: Sequence[Example], tested: Sequence[Example]) -> Extract:
    """One place of each value marked, all other words outside."""
    tokenizer = HtmlTokenizer()
    places = choose_places(examples, tested)
    marked = [_marked(example, chosen) for example, chosen in zip(examples, places, strict=True)]
    words, tags = tokenizer.tokenize(marked)
    model = create_crfsuite_pipeline(_FEATURES, algorithm="lbfgs", c1=0.0, c2=0.01, max_iterations=_ROUNDS)
    model.fit(words, tags)

    def extract(html: str) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        (tokens,), _ = tokenizer.tokenize([_tree(html)])
        (predicted,) = model.predict([tokens])
        for run, tag in tokenizer.sequence_encoder.group(zip(tokens, predicted, strict=True)):
            if tag != "O":
                found.setdefault(tag, _text(run))
        return found

    return extract


def _tree(html: str) -> Any:
    return lxml.html.document_fromstring(html)


def _marked(example: Example, places: dict[str, Place]) -> Any:
    """The page with each value between marks; of two attributes in one text, the first."""
    tree = _tree(example.html)
    names = {place: name for name, place in reversed(places.items())}
    for text, name in [(tree.xpath(place.text_xpath)[0], name) for place, name in names.items()]:
        marked = f" __START_{name}__ {text} __END_{name}__ "
        if text.is_tail:
            text.getparent().tail = marked
        else:
            text.getparent().text = marked
    return tree


def _text(run: Sequence[Any]) -> str:
    """The text from the first word of a run to the last one in the same text node, as on the page."""
    first = run[0]
    last = [token for token in run if token.elem is first.elem and token.is_tail == first.is_tail][-1]
    text = first.elem.tail if first.is_tail else first.elem.text
    return clean(text[first.position : last.position + last.length])


def _place(token: Any) -> dict[str, str]:
    """The tag path, and the classes and ids of the elements around: what templates differ by."""
    above = [token.parent, *token.parent.iterancestors()]
    features = {"path": "/".join(str(element.tag) for element in above)}
    for level, element in enumerate(above[:3]):
        features[f"class-{level}"] = element.get("class", "")
        features[f"id-{level}"] = element.get("id", "")
    before = [text for text in token.parent.xpath("preceding::text()[normalize-space()][1]") if text]
    features["before"] = clean(before[0])[-40:] if before else ""
    return features


_FEATURES = [bias, borders, parent_tag, _place]
