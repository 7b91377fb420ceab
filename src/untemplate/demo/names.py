"""Class names: what the parts of a page are called on a site, in one of the styles of the real web."""

from __future__ import annotations

from random import Random

from untemplate.demo.look import Look

__all__ = ["Names"]

_SYNONYMS = {
    "ad": ("ad", "sponsor", "promo", "banner", "adslot"),
    "block": ("contact", "location", "vcard", "where"),
    "byline": ("byline", "subtitle", "sub", "meta", "credits"),
    "card": ("card", "item", "result", "entry", "listing", "row"),
    "fact": ("fact", "field", "attr", "spec", "prop"),
    "facts": ("facts", "details", "info", "specs", "attributes", "data"),
    "footer": ("footer", "foot", "bottom", "ft"),
    "header": ("header", "top", "masthead", "hd"),
    "heading": ("title", "name", "headline", "heading", "hdr"),
    "label": ("label", "key", "lbl", "term"),
    "list": ("list", "items", "steps", "entries"),
    "main": ("main", "content", "body", "primary", "center"),
    "navigation": ("nav", "menu", "navbar", "tabs", "links"),
    "offer": ("offer", "buy", "buybox", "purchase", "pricing"),
    "page": ("page", "wrapper", "container", "site", "shell"),
    "prose": ("description", "summary", "blurb", "text", "story"),
    "related": ("related", "similar", "recs", "also", "more"),
    "results": ("results", "list", "grid", "hits"),
    "review": ("review", "comment", "opinion", "feedback"),
    "sidebar": ("sidebar", "rail", "aside", "secondary", "right"),
    "value": ("value", "val", "data", "txt"),
}
_ALPHABET = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789"


class Names:
    """The class names of one look: the same part has the same name on all its pages."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._known: dict[str, str] = {}

    @property
    def bare(self) -> bool:
        """Whether the site uses no class names at all."""
        return self._look.class_style == "bare"

    def __call__(self, part: str) -> str:
        if part not in self._known:
            self._known[part] = self._name(part)
        return self._known[part]

    def _name(self, part: str) -> str:
        seed = self._look.names
        for rename, share in self._look.renames:
            if Random(f"{rename}/{part}").random() < share:
                seed = rename
        rng = Random(f"{seed}/{part}")
        plain = (part.replace("_", "-"), part.split("_")[0], part.replace("_", ""))
        word = rng.choice(_SYNONYMS.get(part, plain))
        token = "".join(rng.choices(_ALPHABET, k=5))
        block = Random(f"{self._look.names}/block").choice(("pg", "app", "x", "site", "ui", "entity", "main"))
        match self._look.class_style:
            case "kebab":
                return f"{block}-{word}"
            case "bem":
                return f"{block}__{word}"
            case "camel":
                return block + word.title().replace("-", "")
            case "utility":
                return (
                    f"{word} {rng.choice(('mt', 'pb', 'px'))}-{rng.randrange(9)} col-{rng.randrange(1, 13)}"
                )
            case "module":
                return f"{word}_{token}"
            case "opaque":
                return f"sc-{token}"
            case "legacy":
                return f"{word[:3]}{rng.randrange(1, 20)}"
            case "bare":
                return ""
            case _:
                return word
