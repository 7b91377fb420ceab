"""Made-up sites with their truth, each of which leaves a learner one clue: what a text in the template says.

`made_up_counts`: facts in varying order, told apart only by the text after them. `made_up_infoboxes`: optional rows
of a table, told apart only by the text before them, which has no colon and is on a part of the pages only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.learning.lessons import schema_of, site
from untemplate import Label, Page, Schema, learn

COUNTED = ("review", "photo", "follower", "comment", "question", "recipe", "list", "badge")
COUNT_LAYOUTS = (
    ("<ul class=facts>{}</ul>", "<li><b>{value}</b> {noun}</li>"),
    ("<div class=facts>{}</div>", "<div><span>{value}</span><span>{noun}</span></div>"),
    ("<table>{}</table>", "<tr><td>{value}</td><td>{noun}</td></tr>"),
    ("<p class=facts>{}</p>", "<em>{value}</em> {noun}<br>"),
)
ROWS = {
    "born": ("{day} May {year}", "{day} July {year}", "{year}"),
    "died": ("{day} June {year}", "{year}"),
    "residence": ("Lyon", "Osaka", "Recife", "Turin", "Ghent", "Kraków", "Bergen", "Porto", "Leeds"),
    "occupation": ("painter", "glass blower", "surveyor", "cook", "printer", "weaver", "pilot"),
    "spouse": ("{name}",),
    "children": ("{digit}",),
    "known for": ("{name}", "The {name} affair", "glass", "maps"),
    "awards": ("{name} Prize", "Order of {name}"),
    "school": ("{name} College", "School of {name}"),
}
NAMES = (
    "Ada",
    "Bruno",
    "Chiyo",
    "Dario",
    "Edda",
    "Farid",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kaya",
    "Luis",
    "Mina",
)
BOX_LAYOUTS = (
    ("<table class=infobox>{}</table>", "<tr><th>{caption}</th><td>{value}</td></tr>"),
    ("<table class=infobox>{}</table>", "<tr><td>{caption}</td><td>{value}</td></tr>"),
    ("<dl class=box>{}</dl>", "<dt>{caption}</dt><dd>{value}</dd>"),
    ("<ul class=box>{}</ul>", "<li><b>{caption}</b> {value}</li>"),
    ("<div class=box>{}</div>", "<div><span>{caption}</span> <span>{value}</span></div>"),
)


@dataclass(frozen=True)
class Trial:
    """A made-up site: its pages, the true value of each attribute on each page, and the pages that are labeled."""

    schema: Schema
    pages: list[Page]
    truth: list[dict[str, str | None]]
    labeled: list[int]

    def labels(self) -> list[Label]:
        return [
            Label(str(page), name, value) for page in self.labeled for name, value in self.truth[page].items()
        ]

    def judge(self) -> Iterator[tuple[int, str, str | None, str | None]]:
        """Learn from the labeled pages; yield page, attribute, what came out and what is true, of all others."""
        rules = learn(self.pages, self.labels(), self.schema)
        for number, record in enumerate(rules.extract(self.pages)):
            if number not in self.labeled:
                for name, true in self.truth[number].items():
                    yield number, name, record[name], true


def count_outcomes(trials: list[Trial]) -> tuple[int, int, int]:
    """Return how many values were right (gaps included), how many wrong, and how many were judged."""
    right = wrong = judged = 0
    for trial in trials:
        for _, _, found, true in trial.judge():
            judged += 1
            right += found == true
            wrong += found is not None and found != true
    return right, wrong, judged


def made_up_counts(seed: int, pages: int = 63) -> Trial:
    """A site whose facts, such as `12 reviews`, come in any order; three pages are labeled, the first with one."""
    random = Random(seed)
    box, fact = COUNT_LAYOUTS[seed % len(COUNT_LAYOUTS)]
    nouns = random.sample(COUNTED, 6)
    bodies, truth = [], []
    for page in range(pages):
        counts = dict(zip(nouns, random.sample(range(2, 90), len(nouns)), strict=True))
        if page == 0 or (page > 2 and random.random() < 0.2):
            counts[nouns[0]] = 1
        shown = [nouns[0], *random.sample(nouns[1:], random.randint(3, 5))]
        random.shuffle(shown)
        facts = [
            fact.format(value=counts[noun], noun=noun if counts[noun] == 1 else f"{noun}s") for noun in shown
        ]
        bodies.append(f"<h1>{random.choice(NAMES)} {page}</h1>{box.format(''.join(facts))}")
        truth.append({"count": str(counts[nouns[0]])})
    return Trial(schema_of(count="text"), site(bodies), truth, [0, 1, 2])


def made_up_infoboxes(seed: int, colons: bool = False, pages: int = 40) -> Trial:
    """A site whose facts are rows of a table, each on a part of the pages; the two fullest pages are labeled."""
    random = Random(seed)
    box, row = BOX_LAYOUTS[seed % len(BOX_LAYOUTS)]
    share = {name: random.uniform(0.3, 0.95) for name in ROWS}
    bodies, truth = [], []
    for page in range(pages):
        values = {name: _made_up_value(random, name) for name in ROWS if random.random() < share[name]}
        rows = [
            row.format(caption=f"{name.capitalize()}{':' * colons}", value=value)
            for name, value in values.items()
        ]
        title = f"{random.choice(NAMES)} {random.choice(NAMES)}son {page}"
        bodies.append(f"<h1>{title}</h1>{box.format(''.join(rows))}<p>About {title}.</p>")
        truth.append({name: values.get(name) for name in ROWS})
    labeled = sorted(range(pages), key=lambda page: -sum(map(bool, truth[page].values())))[:2]
    schema = schema_of(**dict.fromkeys(ROWS, "text"))
    return Trial(schema, site(bodies), truth, labeled)


def _made_up_value(random: Random, name: str) -> str:
    return random.choice(ROWS[name]).format(
        day=random.randint(1, 28),
        year=random.randint(1820, 1990),
        digit=random.randint(1, 9),
        name=random.choice(NAMES),
    )
