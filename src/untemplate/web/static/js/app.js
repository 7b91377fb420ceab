// The frame of the application: the bar with the views, the view itself, and the status bar with messages and jobs.
import { AnnotateView } from "./annotate/view.js";
import { ApiView } from "./apiview.js";
import { connection } from "./api.js";
import { ExportView } from "./export.js";
import { JobsButton } from "./jobs.js";
import { html, useEffect, useRef } from "./lib.js";
import { ListsView } from "./lists.js";
import { MonitorView } from "./monitor.js";
import { OverviewView } from "./overview.js";
import { Dialog } from "./parts.js";
import { ReviewView } from "./review.js";
import { RulesView } from "./rules.js";
import { StartView } from "./start.js";
import { address, closeDialog, cluster, dialog, go, loading, messages, place, site, sites, VIEWS } from "./store.js";

const COMPONENTS = { overview: OverviewView, lists: ListsView, review: ReviewView, rules: RulesView, monitor: MonitorView, export: ExportView, api: ApiView, start: StartView };
const TITLES = { ...VIEWS, api: "API", start: "Add a site" };
const NAMELESS = ["annotate", "lists", "review"]; // views without a visible heading: they need all the space
const TROUBLE = {
  busy: "The server is still working on it …",
  down: "The server does not answer. Is untemplate still running? Everything you labeled is in the catalog.",
  restarted: "untemplate was restarted. Open the address that the terminal printed: it contains the new token.",
};

export function App() {
  const { name } = place.value;
  const main = useRef();
  useEffect(() => { document.title = `${TITLES[name]} · untemplate`; }, [name]);
  const skip = (event) => {
    event.preventDefault(); // the address selects the view, not a part of it
    main.current.focus();
  };
  return html`
    <a class="skip" href="#main" onclick=${skip}>Skip to content</a>
    <header class="bar">
      <a class="brand" href="#/overview"><img src="/static/icon.svg" alt="" width="22" height="22" />untemplate</a>
      <${Tabs} /><${Where} />
    </header>
    ${TROUBLE[connection.value] ? html`<div class=${`trouble ${connection.value}`} role="alert">${TROUBLE[connection.value]}</div>` : null}
    <main id="main" tabindex="-1" ref=${main} aria-busy=${String(loading.value)}>
      ${NAMELESS.includes(name) ? html`<h1 class="unseen">${TITLES[name]}</h1>` : null}<${Views} name=${name} /></main>
    <${StatusBar} />
    ${dialog.value ? html`<${Dialog} title=${dialog.value.title} kind=${dialog.value.kind} onclose=${closeDialog}>${dialog.value.body}<//>` : null}`;
}

// Annotate stays in the document while another view is shown, so that a heavy page is there at once on return.
function Views({ name }) {
  const kept = useRef(null);
  if (sites.value === null) return null;
  if (name === "annotate") kept.current = { site: site.value, cluster: cluster.value };
  const Shown = COMPONENTS[name];
  return html`
    ${kept.current ? html`<${AnnotateView} key=${`${kept.current.site?.site} ${kept.current.cluster?.cluster}`} ...${kept.current} isShown=${name === "annotate"} page=${place.value.parameters.page} />` : null}
    ${Shown ? html`<${Shown} key=${name} sites=${sites.value} site=${site.value} cluster=${cluster.value} parameters=${place.value.parameters} />` : null}`;
}

function Tabs() {
  const { name } = place.value;
  const tabs = useRef();
  useEffect(() => { tabs.current.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); }, [name]);
  const targetOf = (view) => {
    if (view === "overview") return {};
    const isList = cluster.value?.kind === "list";
    return { site: site.value?.site, cluster: view === "lists" && !isList ? "" : cluster.value?.cluster }; // Lists chooses a template of lists
  };
  return html`<nav class="tabs" aria-label="Views" ref=${tabs}>${Object.entries(VIEWS).map(([view, title]) => html`
    <a key=${view} href=${address(view, targetOf(view))} aria-current=${view === name ? "page" : null}>${title}</a>`)}</nav>`;
}

function Where() {
  const { name, parameters } = place.value;
  if (!site.value || ["overview", "api", "start"].includes(name)) return html`<div class="where"></div>`;
  const here = site.value.site;
  const names = (sites.value ?? []).map((one) => one.site).sort();
  return html`<div class="where">
    <${Choice} label="Site" options=${names.map((one) => [one, one])} value=${here} pick=${(picked) => go(name, { site: picked })} />
    ${name === "export" ? null : html`<${Choice} label="Template" value=${cluster.value?.cluster}
      options=${site.value.clusters.map((one) => [one.cluster, `${one.name || one.cluster} · ${one.pages} pages`])}
      pick=${(picked) => go(name, { ...parameters, page: "", site: here, cluster: picked })} />`}</div>`;
}

function Choice({ label, options, value, pick }) {
  return html`<select aria-label=${label} onchange=${(event) => pick(event.target.value)}>
    ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}</select>`;
}

function StatusBar() {
  return html`<footer class="statusbar">
    <div class="toasts" role="status" aria-live="polite">${messages.value.map(({ id, text, kind }) => html`<div key=${id} class=${`toast ${kind}`} title=${text}>${text}</div>`)}</div>
    <a class="tiny soft" href="#/api">API</a><${JobsButton} /></footer>`;
}
