// Jobs of the server (import, export, watch, heal): one place for their progress, results, files and canceling.
import { get, post } from "./api.js";
import { html, signal, useEffect, useRef, useState } from "./lib.js";
import { Badge, Button, count, percent } from "./parts.js";
import { complain, refresh, say } from "./store.js";

const PAUSES = { first: 150, longest: 1500 }; // milliseconds between two questions
const STATES = { running: "", done: "good", failed: "bad", canceled: "warn" };

export const jobs = signal([]); // newest first
let following = null;

// Reads the jobs until none runs any more. Safe to call at any time.
export function followJobs() {
  following ??= follow().catch(complain).finally(() => { following = null; });
  return following;
}

async function follow() {
  for (let pause = PAUSES.first; ; pause = Math.min(pause * 1.3, PAUSES.longest)) {
    const before = new Map(jobs.value.map((one) => [one.id, one.state]));
    jobs.value = await get("jobs");
    const ended = jobs.value.filter((one) => one.state !== "running" && before.get(one.id) === "running");
    for (const job of ended) tell(job);
    if (ended.length) refresh();
    if (!jobs.value.some((one) => one.state === "running")) return;
    await new Promise((done) => setTimeout(done, pause));
  }
}

function tell(job) {
  if (job.state === "failed") say(`${job.title}: ${job.problem}`, "bad");
  else if (job.state === "done") say(`${job.title}: ${job.summary || "done"}`);
}

// Starts a job, and follows it like all others, whatever view is shown.
export async function startJob(path, body) {
  try {
    const job = await post(path, body);
    jobs.value = [job, ...jobs.value.filter((one) => one.id !== job.id)];
    if (job.state !== "running") tell(job);
    await followJobs(); // the questions that are under way
    await followJobs();
    return jobs.value.find((one) => one.id === job.id) ?? job;
  } catch (error) {
    complain(error);
    return null;
  }
}

export function JobRow({ job }) {
  const cancel = () => post("job/cancel", { id: job.id }).then(followJobs).catch(complain);
  return html`<li class="job">
    <div class="row spread"><strong class="small">${job.title}</strong>${job.state === "running"
      ? html`<${Button} kind="small" label=${`Cancel: ${job.title}`} onclick=${cancel}>Cancel<//>`
      : html`<${Badge} kind=${job.summary_kind || STATES[job.state]}>${job.state}<//>`}</div>
    ${job.state === "running" ? html`<${Progress} job=${job} />` : null}
    ${job.problem ? html`<p class="small problem">${job.problem}</p>` : null}
    ${job.summary ? html`<p class="small soft">${job.summary}</p>` : null}
    ${job.file ? html`<div><a class="button small" download href=${`/api/job/file?id=${job.id}`}>Download<//></div>` : null}
    ${job.result?.fill ? html`<${FillTable} fill=${job.result.fill} records=${job.result.records} />` : null}</li>`;
}

export function Progress({ job }) {
  const share = job.total ? Math.min(job.pages / job.total, 1) : undefined;
  const figures = `${job.pages.toLocaleString("en")}${job.total ? ` of ${job.total.toLocaleString("en")}` : ""} pages`;
  return html`<div class="row"><progress max="1" value=${share} aria-label=${job.title}></progress><span class="small soft number">${job.step || figures}</span></div>`;
}

// For each attribute, how many records have a value.
export function FillTable({ fill, records }) {
  return html`<ul class="plain fill">${Object.entries(fill).map(([name, filled]) => html`<li key=${name} class="row spread small">
    <span>${name}</span><span class=${`number ${filled ? "soft" : "problem"}`}>${filled.toLocaleString("en")} of ${count(records, "record")} · ${percent(records ? filled / records : 0)}</span></li>`)}</ul>`;
}

export function JobsButton() {
  const [isOpen, open] = useState(false);
  const button = useRef();
  const panel = useRef();
  useEffect(() => { if (isOpen) panel.current.focus(); }, [isOpen]);
  const close = () => {
    open(false);
    button.current.querySelector("button").focus();
  };
  const onkey = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  const all = jobs.value;
  const running = all.filter((one) => one.state === "running");
  if (!all.length) return null;
  return html`<div class="jobs" ref=${button} onkeydown=${onkey}>
    <${Button} kind="small" aria-expanded=${String(isOpen)} onclick=${() => open(!isOpen)}>Jobs: ${running.length ? `${running[0].title} …` : all.length}<//>
    ${isOpen ? html`<section class="jobspanel card stack" aria-label="Jobs" tabindex="-1" ref=${panel}><header><h2>Jobs</h2><${Button} kind="quiet small" label="Close the jobs" onclick=${close}>×<//></header>
      <ul class="plain">${all.map((job) => html`<${JobRow} key=${job.id} job=${job} />`)}</ul></section>` : null}</div>`;
}
