// Export: all records as a file, from the pages and the template that people choose, and the labels.
import { get, post } from "./api.js";
import { FillTable, JobRow, jobs, startJob } from "./jobs.js";
import { html, useEffect, useState } from "./lib.js";
import { Badge, Button, count, Empty, useAnswer } from "./parts.js";
import { address, complain, refresh, say } from "./store.js";

const FORMATS = [["csv", "CSV", "for spreadsheets"], ["jsonl", "JSONL", "one record per line, for programs"], ["parquet", "Parquet", "for data frames and warehouses"]];
const CSV_OPTIONS = [
  ["safe", "Harmless in spreadsheets", "Values that begin with =, +, - or @ get an apostrophe, so that no spreadsheet runs them as a formula"],
  ["bom", "Byte-order mark", "Excel needs it to read letters such as é and ü"],
  ["plain", "Only values", "Without the columns data and missing, which contain JSON; several values are joined by a semicolon"],
];

export function ExportView({ site }) {
  const sources = useAnswer(async () => (site?.version ? get("export/source", { site: site.site }) : null), [site?.site, site?.version, site?.labels]);
  if (!site?.version || !site.clusters.some((one) => one.labeled || one.attributes.some((attribute) => attribute.share !== null))) {
    return html`<${Empty} isView title="Nothing to export yet"><p>Label a page first: the records of all pages follow from it. The formats are CSV, JSONL and Parquet.</p>
      ${site ? html`<p><a class="button primary" href=${address("annotate", { site: site.site })}>Label a page</a></p>` : html`<p><a class="button primary" href="#/start">Add a site</a></p>`}<//>`;
  }
  if (!sources) return null;
  return html`<${ExportForm} key=${site.site} site=${site} sources=${sources} />`;
}

function ExportForm({ site, sources }) {
  const [source, setSource] = useState(sources.source ?? "");
  const [template, setTemplate] = useState("");
  const [options, setOptions] = useState({ safe: false, bom: false, plain: false });
  const own = jobs.value.filter((one) => one.site === site.site && one.kind === "export");
  const running = own.some((one) => one.state === "running");
  const run = async (format) => {
    if (!sources.saved && format !== "labels" && !(await saveRules(site.site))) return;
    const job = await startJob("export", { site: site.site, format, source, cluster: template || null, csv: options });
    if (job?.state === "done") download(job.id);
  };
  const names = new Map(site.clusters.map((one) => [one.cluster, one.name || one.cluster]));
  return html`<div class="column"><h1>Export</h1>
    <section class="card stack" aria-label="Records"><h2>Records</h2>
      <div class="form">
        <label for="source">Pages</label><div class="stack"><select id="source" onchange=${(event) => setSource(event.target.value)}>
          ${sources.sources.map((one) => html`<option key=${one} value=${one} selected=${one === source}>${one}</option>`)}
          <option value="" selected=${source === ""}>the pages in the catalog</option></select>
          <input type="text" aria-label="Another source of pages" placeholder="or another folder, archive, WARC, Parquet or JSONL file" onchange=${(event) => setSource(event.target.value.trim())} /></div>
        <label for="template">Template</label><select id="template" onchange=${(event) => setTemplate(event.target.value)}><option value="">all templates</option>
          ${[...names].map(([key, name]) => html`<option key=${key} value=${key}>${name}</option>`)}</select>
        <span>Rules</span><span class="soft">${sources.saved ? `version ${sources.version}` : "those learned from the labels; they are saved as a version first"}</span></div>
      <${Preview} site=${site.site} source=${source} template=${template} />
      <fieldset class="options row"><legend class="small soft">Options for CSV</legend>${CSV_OPTIONS.map(([name, text, what]) => html`
        <label key=${name} class="switch" title=${what}><input type="checkbox" checked=${options[name]} onchange=${(event) => setOptions({ ...options, [name]: event.target.checked })} />${text}</label>`)}</fieldset>
      <div class="row">${FORMATS.map(([format, name, what]) => html`<${Button} key=${format} kind="tall" disabled=${running} onclick=${() => run(format)}>${name}<span class="tiny soft">${what}</span><//>`)}</div>
      ${own.length ? html`<div role="status"><ul class="plain">${own.slice(0, 3).map((job) => html`<${JobRow} key=${job.id} job=${job} />`)}</ul></div>` : null}</section>
    <section class="card stack" aria-label="Labels"><h2>Labels</h2><p class="soft">${count(site.labels, "label")}, as a file that untemplate learn reads.</p>
      <div class="row"><${Button} disabled=${running} onclick=${() => run("labels")}>Labels, JSONL<//></div></section>
    <section class="card stack" aria-label="API"><h2>API</h2><p class="soft">Everything these pages do, programs can do too: <a href=${address("api")}>the API</a>.</p></section></div>`;
}

// What comes out of some pages of the source, before all of them are read.
function Preview({ site, source, template }) {
  const [preview, setPreview] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    let isCurrent = true;
    setPreview(null);
    setProblem(null);
    const where = { site, source, ...(template ? { cluster: template } : {}) };
    get("export/preview", where).then((found) => { if (isCurrent) setPreview(found); }).catch((error) => { if (isCurrent) setProblem(error.message); });
    return () => { isCurrent = false; };
  }, [site, source, template]);
  if (problem) return html`<div class="notice bad">${problem}</div>`;
  if (!preview) return html`<p class="small soft">Trying some pages …</p>`;
  if (!preview.records) return html`<div class="notice bad">No record in the first ${count(preview.pages, "page")}: ${preview.reason}</div>`;
  const isEmpty = !Object.values(preview.fill).some(Boolean);
  return html`<div class="stack" aria-label="Preview" role="group">
    <div class="row small"><strong>${isEmpty ? "Nothing comes out" : "What comes out"}</strong><span class="soft">of ${count(preview.pages, "page")} that were tried</span>
      ${preview.without_values ? html`<${Badge} kind="warn">${preview.without_values} without any value<//>` : null}</div>
    ${isEmpty ? html`<div class="notice bad">The rules find nothing on these pages. Has the site changed since? Choose fresh pages, or heal the rules in Monitor.</div>` : null}
    <${FillTable} fill=${preview.fill} records=${preview.records} /></div>`;
}

async function saveRules(site) {
  try {
    say(`Rules saved as version ${(await post("rules/save", { site })).version}.`);
    refresh();
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

function download(id) {
  const link = document.createElement("a");
  link.download = "";
  link.href = `/api/job/file?id=${id}`;
  link.click();
}
