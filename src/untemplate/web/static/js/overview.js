// Overview: all sites, how well their rules work, and what waits for a person.
import { badge, count, h, meter, when } from "./dom.js";
import { address } from "./main.js";

export async function open(outlet, { sites, refresh }) {
  const waiting = sites.flatMap((site) => site.waiting.map((one) => ({ ...one, site: site.site })));
  outlet.replaceChildren(h("div", { class: "column" },
    h("h1", {}, "Overview"),
    sites.length ? null : empty(),
    waiting.length ? queue(waiting) : null,
    sites.map(card)));
  return { changed: refresh, update: ({ sites: fresh }) => { open(outlet, { sites: fresh, refresh }); return true; } };
}

function empty() {
  return h("div", { class: "card empty" }, h("h2", {}, "No site yet"),
    h("p", {}, "Give untemplate a folder, an archive, WARC, Parquet or JSONL of pages:"),
    h("code", {}, "untemplate annotate PAGES --schema restaurant"));
}

function queue(waiting) {
  return h("section", { class: "card stack", "aria-label": "Waiting for a person" },
    h("header", {}, h("h2", {}, "Waiting for you"), h("span", { class: "soft small" }, count(waiting.reduce((sum, one) => sum + one.pages, 0), "page"))),
    h("ul", { class: "plain" }, waiting.slice(0, 8).map((one) => h("li", { class: "row spread" },
      h("span", {}, h("strong", {}, one.cluster), ` of ${one.site}: ${one.reason}`,
        h("span", { class: "soft" }, one.pages ? ` · ${count(one.pages, "page")}` : null, one.attributes.length ? ` · ${one.attributes.join(", ")}` : null)),
      h("a", { class: "button small", "aria-label": `Label ${one.cluster} of ${one.site}`, href: address("annotate", { site: one.site, cluster: one.cluster, page: one.page }) }, "Label")))),
    waiting.length > 8 ? h("p", { class: "soft small" }, `and ${waiting.length - 8} more`) : null);
}

function card(site) {
  const pages = site.clusters.reduce((sum, one) => sum + one.pages, 0);
  return h("section", { class: "card stack", "aria-label": site.site },
    h("header", {}, h("h2", {}, site.site),
      h("span", { class: "row small soft" }, site.alarms ? badge(count(site.alarms, "alarm"), "bad") : null,
        site.version ? `${site.schema_name} · version ${site.version}, ${when(site.saved)}` : "no rules yet")),
    h("p", { class: "small soft" }, `${count(pages, "page")} · ${count(site.clusters.length, "template")} · ${count(site.labels, "label")}`),
    h("div", { class: "scroll" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Template", "Pages", "Labeled", "Rules", ""].map((name, index) =>
        h("th", { scope: "col", class: index === 1 || index === 2 ? "figure" : null }, name)))),
      h("tbody", {}, site.clusters.map((one) => row(site, one))))));
}

function row(site, cluster) {
  const ruled = cluster.attributes.filter((one) => one.share !== null);
  const lost = cluster.attributes.filter((one) => one.lost);
  const share = ruled.reduce((sum, one) => sum + one.share, 0) / (ruled.length || 1);
  const target = { site: site.site, cluster: cluster.cluster };
  return h("tr", {},
    h("td", {}, h("strong", {}, cluster.cluster),
      cluster.kind ? h("span", { class: "tiny soft", title: cluster.kind_reason }, ` ${cluster.kind} pages`) : null,
      h("div", { class: "tiny soft mono wrap" }, cluster.url_pattern)),
    h("td", { class: "figure" }, cluster.pages.toLocaleString("en")),
    h("td", { class: "figure" }, String(cluster.labeled)),
    h("td", {}, ruled.length ? h("div", { class: "row" }, meter(share), h("span", { class: "tiny soft" }, `${ruled.length} of ${cluster.attributes.length} attributes`)) : badge("needs labels", "warn"),
      lost.length ? [" ", badge(`lost: ${lost.map((one) => one.attribute).join(", ")}`, "bad")] : null,
      cluster.alarms ? [" ", badge(count(cluster.alarms, "alarm"), "bad")] : null),
    h("td", {}, h("div", { class: "row end" },
      cluster.alarms ? h("a", { class: "button small", href: address("monitor", target) }, "Monitor") : null,
      h("a", { class: "button small", href: address("annotate", target) }, "Annotate"),
      ruled.length ? h("a", { class: "button small", href: address("rules", target) }, "Rules") : null)));
}
