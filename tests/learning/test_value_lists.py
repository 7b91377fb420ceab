"""Lists of values: members by what they share, in the largest region, whatever markup a member has."""

from __future__ import annotations

from tests.learning.lessons import extract, labels_of, schema_of, site
from untemplate import Attribute, Label, Reason, Schema
from untemplate.pipeline import learn_site
from untemplate.rules.in_words import explain_rule

DISHES = ("Soup", "Pie", "Salad", "Bread", "Stew", "Cake")
SCHEMA = Schema("recipe", {"ingredients": Attribute("ingredients", many=True)})


def page_of(number: int, dish: str, groups: int = 1) -> str:
    """Return a recipe; the amount, the unit and the name of an ingredient are elements of their own."""
    item = "<li class=item><span>{0}</span> <span>cups</span> <a href=/{1}>{1}</a></li>"
    lists = ""
    for group in range(groups):
        items = "".join(item.format(number + k, f"{dish.lower()}-{group}-{k}") for k in range(3))
        lists += f"<h3>Part {group}</h3><ul>{items}</ul>"
    related = "".join(f"<li><a href=/{other}>{other}</a></li>" for other in DISHES)
    return f"<h1>{dish}</h1><div class=recipe><div>{lists}</div></div><ul>{related}</ul>"


def ingredients(number: int, dish: str, groups: int = 1) -> list[str]:
    return [f"{number + k} cups {dish.lower()}-{group}-{k}" for group in range(groups) for k in range(3)]


def label(values: list[str]) -> list[Label]:
    return [Label("0", "ingredients", value) for value in values]


def test_a_member_of_several_nodes_comes_back_whole_and_a_second_list_is_found() -> None:
    bodies = [page_of(n, dish, groups=1 + n % 2) for n, dish in enumerate(DISHES)]
    learned = learn_site(site(bodies), label(ingredients(0, "Soup")), SCHEMA)
    for number, (record, dish) in enumerate(zip(learned.rules.extract(site(bodies)), DISHES, strict=True)):
        texts = [value.text for value in record.values["ingredients"]]
        assert texts == ingredients(number, dish, 1 + number % 2)


def test_the_rule_says_what_the_members_share() -> None:
    bodies = [page_of(n, dish) for n, dish in enumerate(DISHES)]
    learned = learn_site(site(bodies), label(ingredients(0, "Soup")), SCHEMA)
    words = explain_rule(learned.rules.wrappers[0].rules["ingredients"])
    assert words.startswith("all text in an `li`")
    assert "cups" not in words


def test_a_member_that_is_not_on_the_page_is_reported_and_the_others_teach() -> None:
    bodies = [page_of(n, dish) for n, dish in enumerate(DISHES)]
    labels = label([*ingredients(0, "Soup"), "a pinch of salt"])
    learned = learn_site(site(bodies), labels, SCHEMA)
    ((report,),) = learned.reports.values()
    assert "1 of 4 labeled values are no text of their own" in report.problems[0]
    record = learned.rules.extract_one(site(bodies)[3])
    assert [value.text for value in record.values["ingredients"]] == ingredients(3, "Bread")


def test_leftovers_teach_nothing() -> None:
    bodies = [page_of(n, dish) for n, dish in enumerate(DISHES)]
    learned = learn_site(site(bodies), label(["Soup", "one", "two", "three", "four"]), SCHEMA)
    ((report,),) = learned.reports.values()
    assert report.rule is None
    assert report.problems[-1] == "most labeled values are not on their pages"


def test_hidden_parts_are_not_in_the_labels_of_a_reader() -> None:
    items = [[f"{i + n} cups flour{i}" for n in range(3)] for i in range(6)]
    bodies = [
        "<h1>Cake</h1><ul>"
        + "".join(
            f"<li>{item}<span style='display: none'> or {i} g</span></li>" for i, item in enumerate(each)
        )
        + "</ul>"
        for each in items
    ]
    records = extract(bodies, {0: {"ingredients": items[0]}}, ingredients="text*")
    assert [[value.text for value in record.values["ingredients"]] for record in records] == items


def test_a_list_in_a_hidden_tab() -> None:
    items = [[f"{i + n} cups flour{i}" for n in range(3)] for i in range(6)]
    bodies = [
        f"<h1>Cake</h1><div hidden><ul>{''.join(f'<li>{item}</li>' for item in each)}</ul></div>"
        for each in items
    ]
    records = extract(bodies, {0: {"ingredients": items[0]}}, ingredients="text*")
    assert [[value.text for value in record.values["ingredients"]] for record in records] == items


def test_one_label_that_is_not_on_the_page_does_not_fail_the_list() -> None:
    items = [[f"{i + n} cups flour{i}" for n in range(4)] for i in range(6)]
    bodies = [f"<h1>Cake</h1><ul>{''.join(f'<li>{item}</li>' for item in each)}</ul>" for each in items]
    given = [*items[0][:2], "three cups of flour", items[0][3]]
    learned = learn_site(site(bodies), labels_of({0: {"ingredients": given}}), schema_of(ingredients="text*"))
    [report] = learned.reports["c1"]
    assert any("1 of 4 labeled values" in problem for problem in report.problems)
    records = list(learned.rules.extract(site(bodies)))
    assert [[value.text for value in record.values["ingredients"]] for record in records] == items


def steps_page(number: int, titled: bool) -> str:
    """Return a recipe with four steps, in one section or in two with titles."""
    step = "<li>Step {0} of recipe {1}: stir it slowly until it is thick, then let it rest.</li>"
    items = [step.format(k, number) for k in range(4)]
    title = "</ol><h3>For the icing</h3><ol>" if titled else ""
    return f"<h1>Recipe {number}</h1><div class=steps><ol>{''.join(items[:2])}{title}{''.join(items[2:])}</ol></div>"


def test_whether_titles_are_steps_is_asked_and_not_guessed() -> None:
    pages = site([steps_page(number, titled=number == 3) for number in range(6)])
    texts = [node.text for node in pages[0].nodes if node.text.startswith("Step")]
    learned = learn_site(pages, label(texts), SCHEMA)
    ((report,),) = learned.reports.values()
    assert report.label_next == "3"
    assert "does not look like the labeled ones" in report.problems[0]
    records = list(learned.rules.extract(pages))
    assert records[3].missing["ingredients"] == Reason.UNDECIDED
    assert [len(record.values.get("ingredients", ())) for record in records] == [4, 4, 4, 0, 4, 4]


def test_nothing_is_selected_where_a_page_is_labeled_as_having_no_list() -> None:
    bodies = []
    for number, dish in enumerate(DISHES):
        items = "".join(f"<li>{dish}-{k}</li>" for k in range(2))
        listed = f"<div class=parts><ul>{items}</ul></div>" if number % 3 else ""
        bodies.append(f"<h1>{dish}</h1><main>{listed}<div><ul><li>note {number}</li></ul></div></main>")
    labels = [Label(f"{n}", "ingredients", f"{DISHES[n]}-{k}") for n in (1, 2) for k in range(2)]
    gap = Label("0", "ingredients", None)
    records = [
        learn_site(site(bodies), given, SCHEMA).rules.extract_one(site(bodies)[3])
        for given in (labels, [*labels, gap])
    ]
    assert ["ingredients" in record.values for record in records] == [True, False]
