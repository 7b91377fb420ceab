// Overview: how all sites are doing, one queue of what waits for people, and the templates of one site.
import { badge, button, count, h, meter, when } from "./dom.js";
import { address } from "./main.js";

const SHOWN = 8;
// What the list is sorted by; the first order is that of the server, the worst first.
const COLUMNS = [
  ["Site", (one) => one.site], ["Schema", (one) => one.schema_name ?? ""], ["Pages", (one) => -(one.pages ?? 0)],
  ["Coverage", (one) => one.coverage.now ?? 2], ["Fill", (one) => one.fill.now ?? 2], ["Rules saved", (one) => one.saved ?? ""],
  ["Last watched", (one) => one.last_watch ?? ""], ["Alarms", (one) => -one.alarms], ["Lost pages", (one) => -one.pages_lost],
];
const list = { search: "", column: null, all: false };

export async function open(outlet, { sites, site, refresh }) {
  const redraw = () => open(outlet, { sites, site, refresh });
  const waiting = site && sites.length === 1 ? site.waiting.map((one) => ({ ...one, site: site.site })) : work(sites);
  outlet.replaceChildren(h("div", { class: "column" },
    h("h1", {}, "Overview"),
    sites.length ? null : empty(),
    waiting.length ? queue(waiting, redraw) : null,
    site ? card(site) : null,
    sites.length > 1 ? table(sites) : null));
  return { changed: refresh, update: (fresh) => { open(outlet, { ...fresh, refresh }); return true; } };
}

// What waits in all sites, most lost pages first.
function work(sites) {
  return sites.flatMap((site) => site.waiting.map((one) => ({ ...one, site: site.site }))).sort((one, other) => other.pages - one.pages);
}

function empty() {
  return h("div", { class: "card empty" }, h("h2", {}, "No site yet"),
    h("p", {}, "Give untemplate a folder, an archive, WARC, Parquet or JSONL of pages:"),
    h("code", {}, "untemplate annotate PAGES --schema restaurant"));
}

function queue(waiting, redraw) {
  const shown = list.all ? waiting : waiting.slice(0, SHOWN);
  return h("section", { class: "card stack", "aria-label": "Waiting for a person" },
    h("header", {}, h("h2", {}, "Waiting for you"),
      h("span", { class: "soft small" }, `${count(waiting.length, "task")} · ${count(waiting.reduce((sum, one) => sum + one.pages, 0), "page")}`)),
    h("ul", { class: "plain" }, shown.map((one) => h("li", { class: "row spread" },
      h("span", {}, h("strong", {}, one.cluster || one.site), one.cluster ? ` of ${one.site}: ${one.reason}` : `: ${one.reason}`,
        h("span", { class: "soft" }, one.pages ? ` · ${count(one.pages, "page")}` : null, one.attributes.length ? ` · ${one.attributes.join(", ")}` : null)),
      h("a", { class: "button small", "aria-label": `Label ${one.cluster} of ${one.site}`, href: address("annotate", { site: one.site, cluster: one.cluster, page: one.page }) }, "Label")))),
    waiting.length > SHOWN ? h("div", {}, button(list.all ? `Show the first ${SHOWN}` : `Show all ${waiting.length}`, () => { list.all = !list.all; redraw(); }, { kind: "small" })) : null);
}

function table(sites) {
  const body = h("tbody", {});
  const draw = () => {
    const words = list.search.toLowerCase().split(/\s+/).filter(Boolean);
    const found = sites.filter((one) => words.every((word) => `${one.site} ${one.schema_name ?? ""}`.toLowerCase().includes(word)));
    if (list.column !== null) found.sort((one, other) => compare(COLUMNS[list.column][1](one), COLUMNS[list.column][1](other)));
    body.replaceChildren(...found.map(line));
    heading.replaceChildren(found.length === sites.length ? count(sites.length, "site") : `${found.length} of ${count(sites.length, "site")}`);
  };
  const heading = h("h2", {});
  const search = h("input", { type: "search", placeholder: "Search sites and schemas", "aria-label": "Search sites", value: list.search,
    oninput: (event) => { list.search = event.target.value; draw(); } });
  const head = COLUMNS.map(([name], index) => h("th", { scope: "col", class: [2, 7, 8].includes(index) ? "figure" : null },
    button(name, () => { list.column = list.column === index ? null : index; draw(); }, { kind: "small", title: `Sort by ${name.toLowerCase()}; again for the worst first` })));
  draw();
  return h("section", { class: "card stack", "aria-label": "Sites" }, h("header", {}, heading, search),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, head)), body)));
}

function compare(one, other) {
  return one < other ? -1 : Number(one > other);
}

function line(site) {
  return h("tr", {},
    h("td", {}, h("a", { href: address("overview", { site: site.site }) }, site.site)),
    h("td", {}, site.schema_name ?? badge("no rules", "warn")),
    h("td", { class: "figure" }, site.pages === null ? "" : site.pages.toLocaleString("en")),
    h("td", {}, share(site.coverage)), h("td", {}, share(site.fill)),
    h("td", { class: "small" }, when(site.saved)), h("td", { class: "small" }, site.last_watch ? when(site.last_watch) : "never"),
    h("td", { class: "figure" }, site.alarms ? h("a", { href: address("monitor", { site: site.site }) }, badge(String(site.alarms), "bad")) : "0"),
    h("td", { class: "figure" }, site.pages_lost.toLocaleString("en")));
}

// A share, and how it changed against the runs before.
function share({ now, before }) {
  if (now === null) return "";
  const change = before === null ? 0 : Math.round((now - before) * 100);
  return [meter(now), change ? h("span", { class: "tiny soft" }, change > 0 ? ` ↑${change}` : ` ↓${-change}`) : null];
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
