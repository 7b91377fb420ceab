// Add a site: where its pages are, what to extract, and a sample site with a short tour for the first visit.
import { get } from "./api.js";
import { jobs, Progress, startJob } from "./jobs.js";
import { html, useState } from "./lib.js";
import { Badge, Button, useAnswer } from "./parts.js";
import { ask, go } from "./store.js";

const KINDS = [["source", "Pages on this machine"], ["urls", "Addresses"]];
const TOUR = [
  ["Click a value on the page", "The active attribute is written beside the pointer. Each click labels one value and goes on to the next attribute."],
  ["Watch the table below", "After every label the rules are learned again, and the records of all sample pages appear. Doubtful values are yellow."],
  ["Lists need two clicks", "Click two items of a list, then press a: all items like them are labeled."],
  ["Enter confirms, n goes on", "Where the rules are right, press Enter. n opens the page that they are least sure about."],
  ["Done? Save and export", "The panel says what is still to do. When nothing is left: s saves the rules, and Export writes the records of all pages."],
];

export function showTour() {
  ask("A tour in two minutes", html`<ol class="tour">${TOUR.map(([title, text]) => html`<li key=${title}><strong>${title}</strong><p class="soft">${text}</p></li>`)}</ol>`);
}

export function StartView({ sites }) {
  const ready = useAnswer(() => get("schemas"), []);
  if (!ready) return null;
  const running = jobs.value.find((one) => one.kind === "import" && one.state === "running");
  return html`<div class="column"><h1>Add a site</h1>
    ${sites.length ? null : html`<section class="card stack" aria-label="First visit"><h2>Your first visit?</h2>
      <p class="soft">Try it on a made-up restaurant guide of 60 pages: click a few values, and get all of its records.</p>
      <div class="row"><${Button} kind="primary" disabled=${Boolean(running)} onclick=${() => add({ sample: true }, true)}>Open the sample site<//><${Button} onclick=${showTour}>Tour<//></div></section>`}
    <${SiteForm} ready=${ready} running=${running} /></div>`;
}

async function add(body, withTour = false) {
  const job = await startJob("sites", body);
  if (job?.state !== "done") return;
  go("annotate", { site: job.result.site });
  if (withTour) showTour();
}

function SiteForm({ ready, running }) {
  const [kind, setKind] = useState("source");
  const [where, setWhere] = useState("");
  const [name, setName] = useState("");
  const [schema, setSchema] = useState(ready.schemas.find((one) => one.name === "product") ?? ready.schemas[0]);
  const urls = where.split(/\s+/).filter(Boolean);
  const submit = () => add({ site: name, definition: schema, ...(kind === "urls" ? { urls } : { source: where.trim() }) });
  return html`
    <section class="card stack" aria-label="Pages"><h2>1. Pages</h2>
      <div class="row" role="radiogroup" aria-label="Where the pages are">${KINDS.map(([key, text]) => html`<label key=${key} class="switch"><input type="radio" name="kind" checked=${kind === key} onchange=${() => setKind(key)} />${text}</label>`)}</div>
      ${kind === "source"
        ? html`<label class="stack small">Folder or file<input type="text" placeholder="/data/pages, crawl.warc.gz, pages.parquet, pages.zip …" value=${where} oninput=${(event) => setWhere(event.target.value)} /></label>`
        : html`<label class="stack small">Addresses, one a line<textarea rows="5" class="field" placeholder="https://www.example.com/product/1" value=${where} oninput=${(event) => setWhere(event.target.value)}></textarea></label>`}
      <label class="stack small">Name of the site<input type="text" placeholder="by default its host or folder" value=${name} oninput=${(event) => setName(event.target.value)} /></label></section>
    <${SchemaForm} ready=${ready} schema=${schema} setSchema=${setSchema} />
    <div class="row"><${Button} kind="primary" disabled=${Boolean(running) || !where.trim() || !schema.attributes.length} onclick=${submit}>Find templates<//>
      ${running ? html`<${Progress} job=${running} />` : html`<span class="small soft">Reads the pages and groups those that are built alike.</span>`}</div>`;
}

function SchemaForm({ ready, schema, setSchema }) {
  const change = (index, change) => setSchema({ ...schema, attributes: schema.attributes.map((one, place) => (place === index ? { ...one, ...change } : one)) });
  const remove = (index) => setSchema({ ...schema, attributes: schema.attributes.filter((_, place) => place !== index) });
  const append = () => setSchema({ ...schema, attributes: [...schema.attributes, { name: "", type: "text", mandatory: false, many: false, captions: [] }] });
  return html`<section class="card stack" aria-label="Schema"><header><h2>2. What to extract</h2>
    <select aria-label="Ready-made schemas" onchange=${(event) => setSchema(ready.schemas.find((one) => one.name === event.target.value) ?? { name: "record", attributes: [] })}>
      ${ready.schemas.map((one) => html`<option key=${one.name} value=${one.name} selected=${one.name === schema.name}>${one.name}</option>`)}<option value="">an empty one</option></select></header>
    <div class="scroll" tabindex="0" role="region" aria-label="Attributes"><table><thead><tr>${["Name", "Type", "Mandatory", "Several", "Called on pages"].map((text) => html`<th scope="col">${text}</th>`)}<th scope="col"><span class="unseen">Actions</span></th></tr></thead>
      <tbody>${schema.attributes.map((one, index) => html`<tr key=${index}>
        <td><input type="text" aria-label=${`Name of attribute ${index + 1}`} value=${one.name} oninput=${(event) => change(index, { name: event.target.value })} /></td>
        <td><select aria-label=${`Type of attribute ${index + 1}`} onchange=${(event) => change(index, { type: event.target.value })}>${ready.types.map((type) => html`<option key=${type} selected=${type === one.type}>${type}</option>`)}</select></td>
        <td><input type="checkbox" aria-label=${`Attribute ${index + 1} is mandatory`} checked=${one.mandatory} onchange=${(event) => change(index, { mandatory: event.target.checked })} /></td>
        <td><input type="checkbox" aria-label=${`Attribute ${index + 1} has several values`} checked=${one.many} onchange=${(event) => change(index, { many: event.target.checked })} /></td>
        <td><input type="text" aria-label=${`What pages call attribute ${index + 1}`} placeholder="Tel, Phone" value=${one.captions.join(", ")} onchange=${(event) => change(index, { captions: event.target.value.split(",").map((text) => text.trim()).filter(Boolean) })} /></td>
        <td><${Button} kind="quiet small" label=${`Remove attribute ${index + 1}`} onclick=${() => remove(index)}>×<//></td></tr>`)}</tbody></table></div>
    <div class="row"><${Button} kind="small" onclick=${append}>Add an attribute<//><${Badge}>${schema.attributes.length}<//></div></section>`;
}
