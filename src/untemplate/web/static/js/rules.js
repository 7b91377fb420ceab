// Rules: each rule in words and XPath with examples, all versions, their differences, and rollback.
import { get, post } from "./api.js";
import { badge, button, dialog, h, hue, meter, toast, when, words } from "./dom.js";
import { complain, go } from "./main.js";

export async function open(outlet, { site, cluster, parameters, refresh }) {
  if (!site?.version) return outlet.replaceChildren(h("div", { class: "empty" }, "No rules yet."));
  const version = Number(parameters.version) || null;
  const rules = await get("rules", { site: site.site, ...(version ? { version } : {}) });
  const wrapper = rules.wrappers.find((one) => one.cluster === cluster?.cluster) ?? rules.wrappers[0];
  outlet.replaceChildren(h("div", { class: "column" },
    h("div", { class: "row spread" }, h("h1", {}, "Rules"), downloads(site, rules, wrapper)),
    rules.saved ? null : h("div", { class: "notice" }, h("span", { class: "grow" }, "Labels added since the newest version lead to other rules."),
      button("Show differences", () => differ(site.site, rules.newest, null)),
      button("Save as a version", () => save(site.site, refresh), { kind: "primary" })),
    rules.version === rules.newest ? null : h("div", { class: "notice" }, h("span", { class: "grow" }, `This is version ${rules.version}; the newest is ${rules.newest}.`),
      button("Show the newest", () => go("rules", { site: site.site, cluster: cluster?.cluster }))),
    h("section", { class: "card stack" }, h("header", {}, h("h2", {}, wrapper.cluster), h("span", { class: "mono small soft wrap" }, wrapper.url_pattern)),
      wrapper.records ? h("p", { class: "small" }, `List pages, one record per row: ${wrapper.records}.`) : null,
      wrapper.rules.map(rule)),
    versions(site.site, cluster?.cluster, rules, refresh)));
  return { changed: (name) => name === site.site && refresh() };
}

function downloads(site, rules, wrapper) {
  const file = (path, text, parameters) => h("a", { class: "button", download: true,
    href: `/api/${path}?${new URLSearchParams({ site: site.site, version: rules.version, ...parameters })}` }, text);
  return h("div", { class: "row" }, file("rules/file", "Download JSON", {}),
    wrapper.rules.some((one) => one.words) ? file("rules/xslt", "Download XSLT", { cluster: wrapper.cluster }) : null);
}

function rule(one, index) {
  return h("article", { class: "rulebox", style: { "--hue": hue(index) } },
    h("div", { class: "row spread" }, h("h3", { class: "row" }, h("span", { class: "dot", "aria-hidden": "true" }), one.attribute, h("span", { class: "tiny soft" }, one.type)),
      one.lost ? badge("lost: the site changed", "bad") : one.words ? (one.coverage === null ? null : meter(one.coverage)) : badge("no rule", "warn")),
    one.words ? h("p", {}, words(one.words)) : null,
    one.examples.length ? h("div", { class: "row examples" }, one.examples.map((example) => h("span", { class: "value tint cut", title: example.page }, example.texts.join(" · ")))) : null,
    one.words ? h("details", {}, h("summary", { class: "small" }, `XPath: ${one.selectors.length} tried in order, ${one.committee.length} in the committee`),
      selectors("Tried in order", one.selectors), selectors("Committee", one.committee),
      one.no_xslt ? h("p", { class: "tiny soft" }, `Not in the XSLT file: ${one.no_xslt}`) : null) : null);
}

function selectors(title, list) {
  return list.length ? h("div", { class: "stack small" }, h("strong", {}, title), h("ol", {}, list.map((one) =>
    h("li", {}, h("div", {}, words(one.words), h("span", { class: "soft" }, ` (${Math.round(one.support * 100)}% of sample pages)`)), h("code", { class: "wrap" }, one.xpath))))) : null;
}

function versions(site, cluster, rules, refresh) {
  const rows = [...rules.history].reverse().map((one) => h("tr", { class: one.number === rules.version ? "here" : null },
    h("td", { class: "figure" }, String(one.number)), h("td", {}, when(one.saved)),
    h("td", {}, badge(one.reason, one.reason === "healed" ? "good" : ""), h("span", { class: "soft" }, `  ${one.note}`)),
    h("td", { class: "figure" }, String(one.rules)),
    h("td", {}, h("div", { class: "row end" },
      button("Show", () => go("rules", { site, cluster, version: String(one.number) }), { kind: "small", label: `Show version ${one.number}` }),
      one.number > 1 ? button("What changed", () => differ(site, one.number - 1, one.number), { kind: "small", label: `What changed in version ${one.number}` }) : null,
      one.number === rules.newest ? null : button("Roll back", () => rollback(site, one.number, refresh), { kind: "small", label: `Roll back to version ${one.number}` })))));
  return h("section", { class: "card stack", "aria-label": "Versions" }, h("h2", {}, "Versions"), h("div", { class: "scroll" },
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { class: "figure" }, "Version"), h("th", {}, "Saved"), h("th", {}, "Why"), h("th", { class: "figure" }, "Rules"), h("th", {}))), h("tbody", {}, rows))));
}

async function save(site, refresh) {
  try {
    toast(`Saved as version ${(await post("rules/save", { site })).version}.`);
    refresh();
  } catch (error) {
    complain(error);
  }
}

async function rollback(site, version, refresh) {
  try {
    const { version: fresh } = await post("rules/rollback", { site, version });
    toast(`Version ${version} is back, as version ${fresh}.`);
    go("rules", { site });
    refresh();
  } catch (error) {
    complain(error);
  }
}

async function differ(site, old, fresh) {
  try {
    const found = await get("rules/diff", { site, old, ...(fresh ? { new: fresh } : {}) });
    dialog(fresh ? `What changed from version ${old} to ${fresh}` : "What the labels change",
      found.length ? h("div", { class: "stack diff" }, found.map((one) => h("article", { class: "stack small" },
        h("h3", {}, [one.cluster ?? "schema", one.attribute].filter(Boolean).join(": ")), side("before", one.before), side("after", one.after)))) : h("p", {}, "No rule differs."));
  } catch (error) {
    complain(error);
  }
}

function side(kind, text) {
  return text ? h("div", { class: `side-${kind}` }, kind === "before" ? "− " : "+ ", words(text)) : null;
}
