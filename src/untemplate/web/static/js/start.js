// Add a site: where its pages are, what to extract, and a sample site with a short tour for the first visit.
import { get } from "./api.js";
import { jobs, Progress, startJob } from "./jobs.js";
import { html, useState } from "./lib.js";
import { Button, count, useAnswer } from "./parts.js";
import { AttributeTable } from "./schema.js";
import { ask, complain, go } from "./store.js";
import { chosenFiles, droppedFiles, sendFiles } from "./uploads.js";

const KINDS = [["upload", "Files or a folder"], ["source", "A path on this machine"], ["urls", "Addresses"]];
const EMPTY = { name: "record", attributes: [] };
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
  const [kind, setKind] = useState("upload");
  const [files, setFiles] = useState([]);
  const [sent, setSent] = useState(null);
  const [source, setSource] = useState("");
  const [addresses, setAddresses] = useState("");
  const [name, setName] = useState("");
  const [schema, setSchema] = useState(ready.schemas.find((one) => one.name === "product") ?? ready.schemas[0]);
  const urls = addresses.split(/\s+/).filter(Boolean);
  const pages = {
    upload: { isThere: files.length > 0, part: html`<${FileChoice} files=${files} choose=${setFiles} />`, body: async () => ({ upload: await sendFiles(files, setSent) }) },
    source: { isThere: Boolean(source.trim()), part: html`<label class="stack tight small">Folder or file<input type="text" placeholder="/data/pages, crawl.warc.gz, pages.parquet, pages.zip …" value=${source} oninput=${(event) => setSource(event.target.value)} /></label>`, body: () => ({ source: source.trim() }) },
    urls: { isThere: urls.length > 0, part: html`<label class="stack tight small">Addresses, one a line<textarea rows="5" class="field" placeholder="https://www.example.com/product/1" value=${addresses} oninput=${(event) => setAddresses(event.target.value)}></textarea></label>`, body: () => ({ urls }) },
  }[kind];
  const submit = async () => {
    setSent(kind === "upload" ? 0 : null);
    try {
      await add({ site: name, definition: schema, ...(await pages.body()) });
    } catch (error) {
      complain(error);
    }
    setSent(null);
  };
  const isBusy = Boolean(running) || sent !== null;
  return html`
    <section class="card stack" aria-label="Pages"><h2>1. Pages</h2>
      <div class="row kinds" role="radiogroup" aria-label="Where the pages are">${KINDS.map(([key, text]) => html`<label key=${key} class="switch"><input type="radio" name="kind" checked=${kind === key} onchange=${() => setKind(key)} />${text}</label>`)}</div>
      ${pages.part}
      <label class="stack tight small">Name of the site<input type="text" placeholder="by default its host, folder or file" value=${name} oninput=${(event) => setName(event.target.value)} /></label></section>
    <section class="card stack" aria-label="Schema"><header><h2>2. What to extract</h2>
      <select aria-label="Ready-made schemas" onchange=${(event) => setSchema(ready.schemas.find((one) => one.name === event.target.value) ?? EMPTY)}>
        ${ready.schemas.map((one) => html`<option key=${one.name} value=${one.name} selected=${one.name === schema.name}>${one.name}</option>`)}<option value="" selected=${schema.name === EMPTY.name}>an empty one</option></select></header>
      <p class="small soft">Keep what you need. You can change it at any time later.</p>
      <${AttributeTable} attributes=${schema.attributes} types=${ready.types} change=${(attributes) => setSchema({ ...schema, attributes })} /></section>
    <div class="row"><${Button} kind="primary" disabled=${isBusy || !pages.isThere || !schema.attributes.length || schema.attributes.some((one) => !one.name.trim())} onclick=${submit}>Find templates<//>
      ${running ? html`<${Progress} job=${running} />` : html`<span class="small soft" role="status">${sent === null ? "Reads the pages and groups those that are built alike." : `Sending files: ${sent} of ${files.length}`}</span>`}</div>`;
}

// A place to drop files and folders on, and buttons that choose them.
function FileChoice({ files, choose }) {
  const [isOver, setOver] = useState(false);
  const over = (event, isInside) => {
    event.preventDefault();
    setOver(isInside);
  };
  const drop = (event) => {
    over(event, false);
    droppedFiles(event.dataTransfer).then(choose).catch(complain);
  };
  const size = files.reduce((sum, one) => sum + one.file.size, 0);
  return html`<div class=${`dropzone${isOver ? " over" : ""}`} ondragover=${(event) => over(event, true)} ondragleave=${(event) => over(event, false)} ondrop=${drop}>
    <strong>${files.length ? `${count(files.length, "file")}, ${(size / 1e6).toFixed(1)} MB` : "Drop a folder of pages, an archive or a WARC here"}</strong>
    <span class="small soft">${files.length ? files.slice(0, 3).map((one) => one.path).join(", ") + (files.length > 3 ? " …" : "") : "HTML files, ZIP, TAR, WARC, Parquet or JSONL. They stay on this machine."}</span>
    <div class="row"><label class="button small">Choose files<input type="file" class="unseen" multiple aria-label="Files with pages" onchange=${(event) => choose(chosenFiles(event.target))} /></label>
      <label class="button small">Choose a folder<input type="file" class="unseen" webkitdirectory aria-label="A folder with pages" onchange=${(event) => choose(chosenFiles(event.target))} /></label></div></div>`;
}
