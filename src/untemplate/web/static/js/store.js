// The one store of state: where we are, the sites of the catalog, and what people are told. Views read its signals.
import { get, Refused } from "./api.js";
import { batch, signal } from "./lib.js";

export const VIEWS = { overview: "Overview", annotate: "Annotate", lists: "Lists", review: "Review", rules: "Rules", monitor: "Monitor", export: "Export" };
const HIDDEN_VIEWS = ["api", "start"];
const SHOWN_FOR = { "": 5000, bad: 12000 }; // milliseconds

export const place = signal(readPlace()); // {name, parameters}: the address alone decides which view is shown
export const sites = signal(null); // null until they are read
export const site = signal(null); // the chosen one, with its templates
export const cluster = signal(null); // the chosen template
export const loading = signal(false);
export const messages = signal([]);
export const dialog = signal(null); // {title, body, kind}: the dialog that is open
export const change = signal({ site: null, number: 0 }); // the latest change of the catalog

let turn = 0;

export function address(view, parameters = {}) {
  const known = Object.entries(parameters).filter(([, value]) => value);
  const query = new URLSearchParams(known).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

export function go(view, parameters = {}) {
  location.hash = address(view, parameters);
}

function readPlace() {
  const [, name = "overview", query = ""] = /^#\/(\w+)(?:\?(.*))?$/.exec(location.hash) ?? [];
  return { name: name in VIEWS || HIDDEN_VIEWS.includes(name) ? name : "overview", parameters: Object.fromEntries(new URLSearchParams(query)) };
}

// Reads the sites, and the one that the address names. Called whenever the address or the catalog changes.
export async function refresh() {
  const mine = ++turn;
  const wanted = readPlace();
  loading.value = true;
  try {
    const all = await get("sites");
    const { name, parameters } = wanted;
    const chosen = all.find((one) => one.site === parameters.site) ?? (name !== "overview" || all.length === 1 ? all[0] : null);
    const details = chosen ? await get("site", { site: chosen.site }) : null;
    if (mine !== turn) return;
    batch(() => {
      sites.value = all;
      site.value = details;
      cluster.value = details?.clusters.find((one) => one.cluster === parameters.cluster) ?? chooseTemplate(name, details);
      place.value = wanted;
    });
  } catch (error) {
    complain(error);
    if (mine === turn) place.value = wanted;
  } finally {
    if (mine === turn) loading.value = false;
  }
}

function chooseTemplate(view, details) {
  if (view === "annotate") return whereTheWorkIs(details);
  return (view === "lists" && details?.clusters.find((one) => one.kind === "list")) || firstLabeled(details);
}

// The template to label: one that was begun, or else one that waits for a person.
function whereTheWorkIs(details) {
  const waiting = details?.waiting.map((one) => details.clusters.find((cluster) => cluster.cluster === one.cluster)).filter(Boolean) ?? [];
  const begun = waiting.find((one) => one.labeled);
  return begun ?? waiting.find((one) => one.kind === "detail") ?? waiting[0] ?? firstLabeled(details);
}

function firstLabeled(details) {
  return details?.clusters.find((one) => one.labeled) ?? details?.clusters[0] ?? null;
}

let number = 0;

export function say(text, kind = "") {
  const message = { text, kind, id: (number += 1) };
  messages.value = [...messages.value.slice(-2), message];
  setTimeout(() => { messages.value = messages.value.filter((one) => one !== message); }, SHOWN_FOR[kind] ?? SHOWN_FOR[""]);
}

export function complain(error) {
  if (!(error instanceof Refused)) console.error(error);
  say(error.message, "bad");
}

// `kind` is "wide" for a dialog with buttons of its own.
export function ask(title, body, kind = "") {
  dialog.value = { title, body, kind };
}

export function closeDialog() {
  dialog.value = null;
}
