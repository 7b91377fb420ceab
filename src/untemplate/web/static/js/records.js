// The live table: the record of every sample page, in the order of the sample, as the rules now give it.
import { badge, h, hue } from "./dom.js";

export function recordsTable(section, view) {
  const { bench } = view;
  const top = section.querySelector(".scroll")?.scrollTop ?? 0;
  const labelled = bench.rows.filter((row) => row.labelled).length;
  const box = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Records" },
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Page"),
        bench.attributes.map((one, index) => h("th", { scope: "col" },
          h("span", { class: "row" }, h("span", { class: "dot", style: { "--hue": hue(index) }, "aria-hidden": "true" }), one.name,
            one.coverage === null ? null : h("span", { class: "tiny soft number", title: "share of the other sample pages on which the rule finds something" }, `${Math.round(one.coverage * 100)}%`)))))),
      h("tbody", {}, bench.rows.map((row, index) => tableRow(view, row, index)))));
  section.replaceChildren(
    h("div", { class: "row spread caption" }, h("strong", { class: "small" }, "Records"),
      h("span", { class: "tiny soft" }, `${labelled} of ${bench.rows.length} sample pages labelled`)), box);
  box.scrollTop = top;
}

function tableRow(view, row, index) {
  const here = row.page === view.page.page;
  const next = row.page === view.bench.next;
  return h("tr", { class: here ? "here" : null, "aria-current": here ? "true" : null },
    h("th", { scope: "row" }, h("button", { type: "button", class: "link cut", title: row.url, onclick: () => view.turnTo(row.page) }, `${index + 1}. ${row.title || row.page}`),
      row.labelled ? badge("labelled", "good") : next ? badge("next", "warn") : null),
    view.bench.attributes.map((one) => cell(row.cells[one.name])));
}

function cell({ state, texts, confidence }) {
  const shown = { absent: "not on this page", missing: "not found", open: "" }[state] ?? texts.join(" · ");
  const title = confidence === null ? shown : `${shown} (${Math.round(confidence * 100)}% agree)`;
  return h("td", { class: `cell ${state}`, title }, h("div", { class: "cut" }, shown));
}
