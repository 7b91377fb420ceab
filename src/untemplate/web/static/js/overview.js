// Overview: how all sites are doing, one queue of what waits for people, and the templates of one site.
import { put } from "./api.js";
import { html, signal } from "./lib.js";
import { Badge, Button, count, Empty, Meter, when } from "./parts.js";
import { Picture } from "./picture.js";
import { address, complain, refresh } from "./store.js";

const SHOWN = 8; // tasks before "Show all"
// What the list is sorted by; the first order is that of the server, the worst first.
const COLUMNS = [
  ["Site", (one) => one.site], ["Schema", (one) => one.schema_name ?? ""], ["Pages", (one) => -(one.pages ?? 0)],
  ["Coverage", (one) => one.coverage.now ?? 2], ["Fill", (one) => one.fill.now ?? 2], ["Rules saved", (one) => one.saved ?? ""],
  ["Last watched", (one) => one.last_watch ?? ""], ["Alarms", (one) => -one.alarms], ["Lost pages", (one) => -one.pages_lost],
];
const FIGURES = [2, 7, 8];
const list = { search: signal(""), column: signal(null), all: signal(false) }; // stays while other views are shown

export function OverviewView({ sites, site }) {
  if (!sites.length) return html`<div class="column"><h1>Overview</h1><section class="card"><${Empty} title="No site yet">
    <p>Give untemplate some pages of a web site: a folder, an archive, a WARC file, or addresses. Click a few values, and get the records of all pages.</p>
    <p><a class="button primary" href="#/start">Add a site</a></p><//></section></div>`;
  const isOne = sites.length === 1;
  const found = sites.filter((one) => matches(`${one.site} ${one.schema_name ?? ""}`));
  const waiting = site && isOne ? site.waiting.map((one) => ({ ...one, site: site.site })) : work(found);
  return html`<div class="column">
    <div class="row spread"><h1>Overview</h1><span class="row">${isOne ? null : html`<input type="search" placeholder="Search sites and schemas" aria-label="Search sites" value=${list.search.value}
      oninput=${(event) => { list.search.value = event.target.value; }} />`}<a class="button" href="#/start">Add a site</a></span></div>
    ${waiting.length ? html`<${Queue} waiting=${waiting} />` : null}
    ${site ? html`<${SiteCard} site=${site} />` : null}
    ${isOne ? null : html`<${SiteTable} found=${found} total=${sites.length} />`}</div>`;
}

// Whether a text has all words of the search.
function matches(text) {
  const words = list.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => text.toLowerCase().includes(word));
}

// What waits in these sites, most lost pages first.
function work(sites) {
  return sites.flatMap((site) => site.waiting.map((one) => ({ ...one, site: site.site }))).sort((one, other) => other.pages - one.pages);
}

function Queue({ waiting }) {
  const shown = list.all.value ? waiting : waiting.slice(0, SHOWN);
  const pages = waiting.reduce((sum, one) => sum + one.pages, 0);
  return html`<section class="card stack" aria-label="Waiting for a person">
    <header><h2>Waiting for you</h2><span class="soft small">${count(waiting.length, "task")} · ${count(pages, "page")}</span></header>
    <ul class="plain">${shown.map((one) => html`<li key=${`${one.site} ${one.cluster} ${one.reason} ${one.page}`} class="row spread">
      <span class="grow"><strong>${one.cluster || one.site}</strong>${one.cluster ? ` of ${one.site}: ${one.reason}` : `: ${one.reason}`}
        <span class="soft">${one.pages ? ` · ${count(one.pages, "page")}` : null}${one.attributes.length ? ` · ${one.attributes.join(", ")}` : null}</span></span>
      <a class="button small" aria-label=${`Label ${one.cluster} of ${one.site}`} href=${address("annotate", { site: one.site, cluster: one.cluster, page: one.page })}>Label</a></li>`)}</ul>
    ${waiting.length > SHOWN ? html`<div><${Button} kind="small" onclick=${() => { list.all.value = !list.all.value; }}>${list.all.value ? `Show the first ${SHOWN}` : `Show all ${waiting.length}`}<//></div>` : null}</section>`;
}

function SiteTable({ found, total }) {
  const column = list.column.value;
  const key = column === null ? null : COLUMNS[column][1];
  const rows = key ? [...found].sort((one, other) => compare(key(one), key(other))) : found;
  return html`<section class="card stack" aria-label="Sites">
    <header><h2>${found.length === total ? count(total, "site") : `${found.length} of ${count(total, "site")}`}</h2></header>
    <div class="scroll" tabindex="0" role="region" aria-label="All sites"><table>
      <thead><tr>${COLUMNS.map(([name], index) => html`<th key=${name} scope="col" class=${FIGURES.includes(index) ? "figure" : null} aria-sort=${index === column ? "ascending" : null}>
        <${Button} kind="quiet small" title=${`Sort by ${name.toLowerCase()}; again for the worst first`} onclick=${() => { list.column.value = column === index ? null : index; }}>${name}<//></th>`)}</tr></thead>
      <tbody>${rows.map((one) => html`<${SiteRow} key=${one.site} site=${one} />`)}</tbody></table>
      ${rows.length ? null : html`<p class="small soft caption">No site has these words.</p>`}</div></section>`;
}

function compare(one, other) {
  return one < other ? -1 : Number(one > other);
}

function SiteRow({ site }) {
  return html`<tr>
    <td><a href=${address("overview", { site: site.site })}>${site.site}</a></td>
    <td>${site.schema_name ?? html`<${Badge} kind="warn">no rules<//>`}</td>
    <td class="figure">${site.pages === null ? "" : site.pages.toLocaleString("en")}</td>
    <td><${Share} ...${site.coverage} /></td><td><${Share} ...${site.fill} /></td>
    <td class="small">${when(site.saved)}</td><td class="small">${site.last_watch ? when(site.last_watch) : "never"}</td>
    <td class="figure">${site.alarms ? html`<a href=${address("monitor", { site: site.site })}><${Badge} kind="bad">${site.alarms}<//></a>` : "0"}</td>
    <td class="figure">${site.pages_lost.toLocaleString("en")}</td></tr>`;
}

// A share, and how it changed against the runs before.
function Share({ now, before }) {
  if (now === null) return null;
  const change = before === null ? 0 : Math.round((now - before) * 100);
  return html`<${Meter} share=${now} />${change ? html`<span class="tiny soft">${change > 0 ? ` ↑${change}` : ` ↓${-change}`}</span>` : null}`;
}

function SiteCard({ site }) {
  const pages = site.clusters.reduce((sum, one) => sum + one.pages, 0);
  return html`<section class="card stack" aria-label=${site.site}>
    <header><h2>${site.site}</h2><span class="row small soft">${site.alarms ? html`<${Badge} kind="bad">${count(site.alarms, "alarm")}<//>` : null}
      ${site.version ? `${site.schema_name} · version ${site.version}, ${when(site.saved)}` : "no rules yet"}</span></header>
    <p class="small soft">${count(pages, "page")} · ${count(site.clusters.length, "template")} · ${count(site.labels, "label")}</p>
    <ul class="templates plain">${site.clusters.map((one) => html`<${TemplateCard} key=${one.cluster} site=${site} cluster=${one} />`)}</ul></section>`;
}

function TemplateCard({ site, cluster }) {
  const target = { site: site.site, cluster: cluster.cluster };
  const rename = (event) => put("cluster", { cluster: cluster.cluster, name: event.target.value.trim() }, { site: site.site }).then(refresh).catch(complain);
  return html`<li class="template">
    <a class="picturelink" href=${address(cluster.kind === "list" ? "lists" : "annotate", target)} aria-label=${`Open ${cluster.cluster}`}><${Picture} site=${site.site} page=${cluster.first} /></a>
    <div class="row spread"><input class="rename" type="text" aria-label=${`Name of ${cluster.cluster}`} placeholder=${cluster.cluster} value=${cluster.name} onchange=${rename} />
      ${cluster.kind ? html`<${Badge} title=${cluster.kind_reason}>${cluster.kind}<//>` : null}</div>
    <div class="tiny soft mono wrap">${[cluster.name ? cluster.cluster : "", cluster.url_pattern].filter(Boolean).join(" · ")}</div>
    <div class="small soft">${count(cluster.pages, "page")} · ${cluster.labeled ? `${cluster.labeled} labeled` : "none labeled"}</div>
    <${Health} cluster=${cluster} />
    <div class="row">
      ${cluster.alarms ? html`<a class="button small" href=${address("monitor", target)}>Monitor</a>` : null}
      <a class="button small" href=${address("annotate", target)}>Annotate</a>
      ${cluster.kind === "list" ? html`<a class="button small" href=${address("lists", target)}>Rows</a>` : null}
      ${cluster.attributes.some((one) => one.share !== null) ? html`<a class="button small" href=${address("rules", target)}>Rules</a>` : null}</div></li>`;
}

function Health({ cluster }) {
  const ruled = cluster.attributes.filter((one) => one.share !== null);
  const lost = cluster.attributes.filter((one) => one.lost);
  const share = ruled.reduce((sum, one) => sum + one.share, 0) / (ruled.length || 1);
  return html`<div class="row">${ruled.length ? html`<${Meter} share=${share} /><span class="tiny soft">${ruled.length} of ${cluster.attributes.length} attributes</span>` : html`<${Badge} kind="warn">needs labels<//>`}
    ${lost.length ? html`<${Badge} kind="bad">lost: ${lost.map((one) => one.attribute).join(", ")}<//>` : null}
    ${cluster.alarms ? html`<${Badge} kind="bad">${count(cluster.alarms, "alarm")}<//>` : null}</div>`;
}
