"""Small list pages with their blocks and true values, for tests of the HCRF."""

from __future__ import annotations

from untemplate import Page
from untemplate.layout import EstimatedLayout
from untemplate.lists.block_features import observe_page
from untemplate.lists.hcrf_blocks import BlockClasses, ObservedBlocks
from untemplate.lists.list_page import ListPage
from untemplate.lists.scene import build_block_scene
from untemplate.lists.vision_tree import VisionTree, build_vision_tree

CLASSES = BlockClasses(("title", "price"), (("title", "price"), ("title",)))
WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")


def list_page(seed: int, template: str) -> ListPage:
    items = "".join(
        template.format(title=f"{WORDS[(seed + n) % 8].title()} {WORDS[n % 8]}", price=f"${seed + n}.50")
        for n in range(6)
    )
    menu = "".join(f"<li><a href='/{n}'>Menu {n}</a></li>" for n in range(8))
    page = Page(
        html=f"<body><nav><ul>{menu}</ul></nav><h1>Things</h1><div class=results>{items}</div></body>"
    )
    return ListPage(page, EstimatedLayout())


def blocks_of(found: ListPage) -> tuple[VisionTree, ObservedBlocks, list[int], dict[int, str]]:
    """A page's blocks, what the model sees of them, its records, and the attributes of leaves."""
    vision = build_vision_tree(found.profile)
    values: dict[int, str] = {}
    records: list[int] = []
    for block, (rows, children) in enumerate(zip(vision.rows, vision.children, strict=True)):
        text = found.tree.texts[rows[0]]
        if not children and text:
            if "$" in text:
                values[block] = "price"
                records.append(int(vision.parent[block]))
            elif "Menu" not in text and "Things" not in text:
                values[block] = "title"
    return vision, observe_page("", build_block_scene(found.profile, vision)), records, values


TEMPLATES = (
    "<div><h3><a href=x>{title}</a></h3><b>{price}</b></div>",
    "<p><a href=x>{title}</a><br><span>{price}</span></p>",
)
