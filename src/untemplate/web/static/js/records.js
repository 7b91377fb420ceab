// The live table: the records of all sample pages, in the order of the sample, extracted with the current rules.
import { badge, h, hue } from "./dom.js";

export function recordsTable(section, view) {
  const { session } = view;
  const top = section.querySelector(".scroll")?.scrollTop ?? 0;
  const labeled = session.rows.filter((row) => row.labeled).length;
  const box = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Records" },
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Page"),
        session.attributes.map((one, index) => h("th", { scope: "col" },
          h("span", { class: "row" }, h("span", { class: "dot", style: { "--hue": hue(index) }, "aria-hidden": "true" }), one.name,
            one.coverage === null ? null : h("span", { class: "tiny soft number", title: "share of the other sample pages on which the rule finds something" }, `${Math.round(one.coverage * 100)}%`)))))),
      h("tbody", {}, session.rows.map((row, index) => tableRow(view, row, index)))));
  section.replaceChildren(
    h("div", { class: "row spread caption" }, h("strong", { class: "small" }, "Records"),
      h("span", { class: "tiny soft" }, `${labeled} of ${session.rows.length} sample pages labeled`)), box);
  box.scrollTop = top;
}

function tableRow(view, row, index) {
  const here = row.page === view.page.page;
  const next = row.page === view.session.next;
  return h("tr", { class: here ? "here" : null, "aria-current": here ? "true" : null },
    h("th", { scope: "row" }, h("button", { type: "button", class: "link cut", title: row.url, onclick: () => view.turnTo(row.page) }, `${index + 1}. ${row.title || row.page}`),
      row.labeled ? badge("labeled", "good") : next ? badge("next", "warn") : null),
    view.session.attributes.map((one) => cell(row.cells[one.name])));
}

function cell({ state, texts, confidence }) {
  const shown = { absent: "not on this page", missing: "not found", open: "" }[state] ?? texts.join(" · ");
  const title = confidence === null ? shown : `${shown} (${Math.round(confidence * 100)}% agree)`;
  return h("td", { class: `cell ${state}`, title }, h("div", { class: "cut" }, shown));
}
