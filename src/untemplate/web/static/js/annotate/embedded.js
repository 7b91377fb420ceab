// The embedded data beside the page: what the page tells programs. A click on a value labels it like a text of the page.
import { get } from "../api.js";
import { html, signal } from "../lib.js";
import { Badge, Button, count, hue } from "../parts.js";
import { complain } from "../store.js";

const KEY = "embedded-data";
const WIDE = 1500; // pixels from which on there is room for the panel, unless the person closed it
const PAUSE = 150; // milliseconds without a key after which a search starts

export class EmbeddedData {
  constructor(model) {
    this.model = model;
    this.chosen = signal(localStorage.getItem(KEY));
    this.data = signal(null);
    this.search = signal("");
    this.page = null;
  }

  get total() {
    return this.data.value?.total ?? 0;
  }

  get isOpen() {
    return this.total > 0 && (this.chosen.value ? this.chosen.value === "open" : innerWidth >= WIDE);
  }

  toggle() {
    this.chosen.value = this.isOpen ? "closed" : "open";
    localStorage.setItem(KEY, this.chosen.value);
  }

  async load(site, page) {
    this.page = { site, page };
    this.data.value = null;
    this.search.value = "";
    await this.fetch();
  }

  find(text) {
    this.search.value = text;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.fetch().catch(complain), PAUSE);
  }

  async fetch() {
    const asked = { ...this.page, find: this.search.value };
    const data = await get("embedded", asked);
    if (asked.page === this.page.page && asked.find === this.search.value) this.data.value = data;
  }

  // For each value that is labeled, found or proposed: its kind and attribute.
  get marked() {
    const { marks, proposal } = this.model;
    const marked = new Map();
    const set = (number, kind, attribute) => { if (marked.get(number)?.kind !== "label") marked.set(number, { kind, attribute }); };
    for (const mark of marks.value.marks) for (const number of mark.embedded) set(number, mark.kind, mark.attribute);
    for (const click of proposal.value?.clicks ?? []) if (click.embedded !== null) set(click.embedded, "proposed", proposal.value.attribute);
    return marked;
  }
}

export function EmbeddedPanel({ model }) {
  const { embedded } = model;
  const data = embedded.data.value;
  if (!data) return null;
  const { objects, total, shown } = data;
  const isSearching = embedded.search.value.trim() !== "";
  const typed = objects.filter((one) => one.type);
  const fullest = Math.max(...(typed.length ? typed : objects).map(size));
  const isMain = (one) => size(one) === fullest && Boolean(one.type) === typed.length > 0;
  const marked = embedded.marked;
  const hasLabel = (one) => one.paths.some(({ values }) => values.some(({ number }) => marked.get(number)?.kind === "label"));
  return html`
    <header class="stack">
      <div class="row spread"><strong class="small">Embedded data</strong><span class="tiny soft number">${shown < total ? `${shown} of ${count(total, "value")}` : count(total, "value")}</span>
        <${Button} kind="quiet small" label="Close the embedded data" title="Close (d)" onclick=${() => embedded.toggle()}>×<//></div>
      <input type="search" placeholder="Find in the data" aria-label="Find in the embedded data" value=${embedded.search.value} oninput=${(event) => embedded.find(event.target.value)}
        onkeydown=${(event) => { if (event.key === "Escape") event.target.blur(); }} /></header>
    <div class=${`scroll${model.attribute.many ? " many" : ""}`} tabindex="0" role="region" aria-label="Values of the embedded data">
      ${objects.map((one, index) => html`<${DataObject} key=${`${data.page} ${index} ${isSearching}`} model=${model} one=${one} marked=${marked} isOpen=${isSearching || isMain(one) || hasLabel(one)} />`)}
      ${objects.length ? null : html`<p class="empty small">${isSearching ? "Nothing in the data has these words." : "This page has no embedded data."}</p>`}</div>`;
}

function DataObject({ model, one, marked, isOpen }) {
  return html`<details class="object" open=${isOpen}>
    <summary><span class="grow cut"><strong>${one.type || (one.source === "meta" ? "Meta tags" : "Data")}</strong> <span class="tiny soft">${title(one)}</span></span>
      <${Badge}>${one.source}<//><span class="tiny soft number">${size(one)}</span></summary>
    ${one.paths.map((path) => html`<${DataPath} key=${path.path} model=${model} one=${one} marked=${marked} ...${path} />`)}
    ${one.hidden ? html`<p class="path tiny soft">${count(one.hidden, "more value")} at other paths: search to see them</p>` : null}</details>`;
}

function DataPath({ model, one, marked, path, values, hidden }) {
  const where = `${one.source} ${one.type ? `${one.type}.` : ""}${path}`;
  return html`<div class="path">
    <div class="row spread"><code class="cut" title=${where}>${path}</code>${values.length > 1 && !hidden ? html`<${Button} kind="quiet small all" label=${`Label all values of ${where}`}
      onclick=${() => model.pickEmbedded(values.map((value) => value.number))}>all ${values.length}<//>` : null}</div>
    ${values.map(({ number, text }) => html`<${Datum} key=${number} model=${model} number=${number} text=${text} where=${where} mark=${marked.get(number)} />`)}
    ${hidden ? html`<p class="tiny soft">${count(hidden, "more value")}: search to see ${hidden === 1 ? "it" : "them"}</p>` : null}</div>`;
}

function Datum({ model, number, text, where, mark }) {
  const index = model.session.value.attributes.findIndex((one) => one.name === mark?.attribute);
  return html`<button type="button" class=${`datum ${mark?.kind ?? ""}`} title=${`${where}: ${text}`} data-number=${number} data-attribute=${mark?.attribute}
    style=${mark ? { "--hue": hue(index) } : {}} onclick=${() => model.pickEmbedded([number])}>${text}</button>`;
}

function size(one) {
  return one.paths.reduce((sum, path) => sum + path.values.length + path.hidden, one.hidden);
}

// What an object is called, to tell those of the same type apart.
function title(one) {
  return one.paths.find(({ path }) => path === "name" || path === "headline")?.values[0].text ?? "";
}
