// The address alone decides which view is shown, so that a reload shows the same again.
import { get, onChange, Refused } from "./api.js";
import { h, toast } from "./dom.js";

const VIEWS = { overview: "Overview", annotate: "Annotate", review: "Review", rules: "Rules", monitor: "Monitor", export: "Export" };
const outlet = document.querySelector("main");
let current = { name: null, view: null };
let turn = 0;

export function go(view, parameters = {}) {
  location.hash = address(view, parameters);
}

export function address(view, parameters = {}) {
  const known = Object.entries(parameters).filter(([, value]) => value);
  const query = new URLSearchParams(known).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

function place() {
  const [, name = "overview", query = ""] = /^#\/(\w+)(?:\?(.*))?$/.exec(location.hash) ?? [];
  return { name: name in VIEWS || name === "api" ? name : "overview", parameters: Object.fromEntries(new URLSearchParams(query)) };
}

async function show() {
  const mine = ++turn;
  const { name, parameters } = place();
  outlet.setAttribute("aria-busy", "true");
  try {
    const sites = await get("sites");
    const chosen = sites.find((one) => one.site === parameters.site) ?? (name !== "overview" || sites.length === 1 ? sites[0] : null);
    const site = chosen ? await get("site", { site: chosen.site }) : null;
    const cluster = site?.clusters.find((one) => one.cluster === parameters.cluster) ?? first(site);
    if (mine !== turn) return;
    tabs(name, site, cluster);
    where(name, sites, site, cluster, parameters);
    const context = { sites, site, cluster, parameters, refresh: show };
    if (current.name === name && current.view?.update?.(context)) return;
    const module = await import(`./${name === "api" ? "apiview" : name}.js`);
    if (mine !== turn) return;
    current.view?.close?.();
    document.title = `${VIEWS[name] ?? "API"} · untemplate`;
    current = { name, view: null };
    current.view = await module.open(outlet, context);
  } catch (error) {
    complain(error);
  } finally {
    if (mine === turn) outlet.setAttribute("aria-busy", "false");
  }
}

// The cluster to start with: the first one with labels, or else the first one.
function first(site) {
  return site?.clusters.find((one) => one.labeled) ?? site?.clusters[0] ?? null;
}

function tabs(name, site, cluster) {
  document.querySelector(".tabs").replaceChildren(...Object.entries(VIEWS).map(([view, title]) => {
    const parameters = view === "overview" ? {} : { site: site?.site, cluster: cluster?.cluster };
    return h("a", { href: address(view, parameters), "aria-current": view === name ? "page" : null }, title);
  }));
  document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

function where(name, sites, site, cluster, parameters) {
  const bar = document.querySelector(".where");
  if (!site || name === "overview" || name === "api") return bar.replaceChildren();
  const choose = (label, options, value, pick) => h("select", { "aria-label": label, onchange: (event) => pick(event.target.value) },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  bar.replaceChildren(
    choose("Site", sites.map((one) => one.site).sort().map((one) => [one, one]), site.site, (picked) => go(name, { site: picked })),
    name === "export" ? "" : choose("Template", site.clusters.map((one) => [one.cluster, `${one.cluster} · ${one.pages} pages`]), cluster?.cluster,
      (picked) => go(name, { ...parameters, page: "", site: site.site, cluster: picked })));
}

export function complain(error) {
  if (!(error instanceof Refused)) console.error(error);
  toast(error.message, "bad");
}

addEventListener("hashchange", show);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address selects the view, not a part of it
  outlet.focus();
});
addEventListener("unhandledrejection", ({ reason }) => complain(reason));
onChange((site, number) => current.view?.changed?.(site, number));
show();
