// Monitor: how well the rules work over time, open alarms with the page before and after, and healing.
import { get, post } from "./api.js";
import { Chart } from "./chart.js";
import { FrameLink } from "./framelink.js";
import { jobs, Progress, startJob } from "./jobs.js";
import { html, useEffect, useRef, useState } from "./lib.js";
import { Badge, Button, count, Empty, hue, useAnswer, when } from "./parts.js";
import { address, complain, refresh, say } from "./store.js";

// What each test found, in words.
const TESTS = {
  shingle: "the pages are built differently", match: "pages look like no known template", bellwethers: "watched pages are gone",
  records: "lists have no rows", pages: "fewer pages than usual", mandatory: "the value is missing", missing: "the value is missing",
  moved: "the value is at another place", constant: "the value should not change", doubtful: "the rules are unsure", agreement: "the rules are unsure",
  filled: "fewer pages have a value", shape: "the values look different", odd: "the values look different", repeated: "the same value everywhere", seen: "a value of other pages",
};

export function MonitorView({ site, cluster }) {
  const state = useAnswer(async () => (site?.version ? get("monitor", { site: site.site }) : null), [site]);
  const [compared, compare] = useState(null);
  if (!site?.version || !site.clusters.some((one) => one.attributes.some((attribute) => attribute.share !== null || attribute.lost))) {
    return html`<${Empty} isView title="No rules to watch yet"><p>As soon as a template has rules, this view tells when the site changes and the rules stop working.</p>
      ${site ? html`<p><a class="button primary" href=${address("annotate", { site: site.site })}>Label pages</a></p>` : null}<//>`;
  }
  if (!state) return null;
  const open = state.alarms.filter((one) => !one.cleared);
  return html`<div class="column">
    <div class="row spread"><h1>Monitor</h1>${open.length ? html`<${Badge} kind="bad">${count(open.length, "open alarm")}<//>`
      : state.runs.length ? html`<${Badge} kind="good">no alarms<//>` : html`<${Badge}>not watched yet<//>`}</div>
    <${RunNow} site=${site.site} isWatched=${state.runs.length > 0} />
    ${state.proposal ? html`<${HealProposal} proposal=${state.proposal} attributes=${state.attributes} />` : null}
    ${open.length ? html`<${Alarms} list=${open} compare=${compare} />` : null}
    ${compared && open.some((one) => one.cluster === compared.cluster && one.attribute === compared.attribute) ? html`<${Comparison} key=${`${compared.cluster} ${compared.attribute}`} site=${site.site} alarm=${compared} attributes=${state.attributes} />` : null}
    <${Charts} state=${state} cluster=${cluster} />
    ${state.heals.length ? html`<${Heals} site=${site.site} list=${state.heals} />` : null}</div>`;
}

function RunNow({ site, isWatched }) {
  const key = `fresh/${site}`;
  const [source, setSource] = useState(sessionStorage.getItem(key) ?? "");
  const running = jobs.value.find((one) => one.site === site && one.state === "running" && ["watch", "heal"].includes(one.kind));
  const start = (kind) => {
    sessionStorage.setItem(key, source);
    startJob(kind, { site, source: source.trim() || null });
  };
  return html`<section class="card stack" aria-label="Watch or heal the site now">
    ${isWatched ? null : html`<p class="soft">This site has not been watched yet. <em>Watch</em> tests the rules on fresh pages; <em>Heal</em> proposes repaired rules.</p>`}
    <div class="row"><input type="text" class="grow" placeholder="folder, WARC file, … with fresh pages; leave empty to fetch the watched pages" aria-label="Where fresh pages are" value=${source} oninput=${(event) => setSource(event.target.value)} />
      <${Button} kind="primary" disabled=${Boolean(running)} onclick=${() => start("watch")}>Watch<//><${Button} disabled=${Boolean(running)} onclick=${() => start("heal")}>Heal<//></div>
    ${running ? html`<div class="row"><${Progress} job=${running} /><${Button} kind="small" onclick=${() => post("job/cancel", { id: running.id }).catch(complain)}>Cancel<//></div>` : null}</section>`;
}

// Repaired rules wait for a person, with the values before and after.
function HealProposal({ proposal, attributes }) {
  const decide = (path, message) => post(path, { id: proposal.job }).then(({ version }) => {
    say(version ? `${message} as version ${version}.` : message);
    refresh();
  }).catch(complain);
  return html`<section class="card stack proposalbox" aria-label="Proposed repair"><header><h2>Proposed repair</h2><span class="small soft">${proposal.summary}</span></header>
    ${proposal.repairs.map((one) => html`<article class="stack small" key=${`${one.cluster} ${one.attribute}`}><h3 class="row">${one.attribute}<span class="tiny soft">${one.cluster}: ${one.how}</span></h3>
      <div class="scroll" tabindex="0" role="region" aria-label=${`Values of ${one.attribute}`}><table><thead><tr><th scope="col">Page</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
        <tbody>${one.values.map((value) => html`<tr key=${value.page}><td class="cut">${value.page}</td><td>${value.before.join(" · ") || html`<span class="soft">nothing</span>`}</td>
          <td style=${{ "--hue": hue(attributes.indexOf(one.attribute)) }}>${value.after.length ? html`<span class="value tint">${value.after.join(" · ")}</span>` : value.before.length ? html`<${Badge} kind="bad">nothing found<//>` : html`<span class="soft">nothing</span>`}</td></tr>`)}</tbody></table></div></article>`)}
    ${proposal.lost.map((one) => html`<p class="small" key=${`${one.cluster} ${one.attribute}`}><${Badge} kind="bad">lost<//> ${one.cluster}, ${one.attribute}: ${one.why}</p>`)}
    <div class="row"><${Button} kind="primary" onclick=${() => decide("heal/approve", "Repaired rules saved")}>Approve<//><${Button} onclick=${() => decide("heal/dismiss", "The rules stay as they were.")}>Dismiss<//></div></section>`;
}

function Alarms({ list, compare }) {
  return html`<section class="card stack" aria-label="Alarms"><h2>Alarms</h2><div class="scroll" tabindex="0" role="region" aria-label="All alarms"><table>
    <thead><tr>${["Template", "What", "Expected", "Seen", "Since"].map((name) => html`<th scope="col">${name}</th>`)}<th scope="col"><span class="unseen">Actions</span></th></tr></thead>
    <tbody>${grouped(list).map(([one, tests]) => html`<tr key=${`${one.cluster} ${one.attribute}`}>
      <td>${one.cluster}</td><td><strong>${one.attribute ?? "structure"}</strong><div class="tiny soft">${inWords(tests)} · ${count(one.pages.length, "page")}</div></td>
      <td>${one.expected}</td><td>${one.seen}</td><td>${when(one.since ?? one.raised)}</td>
      <td>${one.pages.length ? html`<${Button} kind="small" label=${`Before and after: ${one.attribute ?? "structure"} of ${one.cluster}`} onclick=${() => compare(one)}>Before and after<//>` : null}</td></tr>`)}</tbody></table></div></section>`;
}

function inWords(tests) {
  return [...new Set(tests.map((test) => TESTS[test] ?? test))].join(", ");
}

// One row per attribute, even if several of its tests fail.
function grouped(list) {
  const groups = new Map();
  for (const alarm of list) {
    const key = `${alarm.cluster}/${alarm.attribute}`;
    if (!groups.has(key)) groups.set(key, [alarm, []]);
    groups.get(key)[1].push(alarm.test);
  }
  return [...groups.values()];
}

function Comparison({ site, alarm, attributes }) {
  const [page] = alarm.pages;
  const box = useRef();
  const sides = useAnswer(() => get("compare", { site, page }), [page]);
  useEffect(() => { if (sides) box.current.scrollIntoView({ behavior: "smooth", block: "start" }); }, [sides]);
  if (!sides) return null;
  return html`<section class="card stack" aria-label="Before and after" ref=${box}>
    <header><h2>Before and after</h2><span class="row"><span class="small soft">${page}</span><a class="button small" href=${address("annotate", { site, cluster: alarm.cluster, page })}>Label it</a></span></header>
    <div class="sides"><${Side} title="Before" side=${sides.before} site=${site} alarm=${alarm} attributes=${attributes} /><${Side} title="After" side=${sides.after} site=${site} alarm=${alarm} attributes=${attributes} /></div></section>`;
}

function Side({ title, side, site, alarm, attributes }) {
  const holder = useRef();
  const marks = (side?.marks ?? []).filter((mark) => !alarm.attribute || mark.attribute === alarm.attribute);
  useEffect(() => {
    if (!side) return undefined;
    const frame = new FrameLink(holder.current, { pick() {}, key() {}, cursor() {} }, `${title}: the page`);
    frame.load(site, side.page).then(() => {
      frame.order("marks", { marks: marks.map((mark) => ({ ...mark, hue: hue(attributes.indexOf(mark.attribute)), name: mark.attribute })) });
      if (marks.length) frame.order("reveal", { items: marks[0].items });
    }).catch(complain);
    return () => frame.close();
  }, []);
  const texts = marks.map((mark) => mark.text).join(" · ");
  return html`<div class="stack"><div class="row spread small"><strong>${title}</strong><span>${texts || (alarm.attribute ? html`<${Badge} kind="bad">nothing found<//>` : "")}</span></div>
    ${side ? html`<div class="frame" ref=${holder}></div>` : html`<div class="frame"><${Empty}>The catalog does not have this page from that time.<//></div>`}</div>`;
}

function Charts({ state, cluster }) {
  const own = state.runs.map((one) => one.clusters.find((figures) => figures.cluster === cluster?.cluster) ?? null);
  if (!own.some(Boolean)) return null;
  const moments = state.runs.map((one) => one.finished);
  return html`<section class="card stack" aria-label="Over time"><header><h2>${cluster.name || cluster.cluster} over time</h2><span class="small soft">${count(state.runs.length, "run")}</span></header>
    <div class="charts">
      <${Chart} title="Pages that look like the template" moments=${moments} series=${[{ name: "coverage", hue: 265, values: own.map((one) => one?.coverage ?? null) }]} />
      <${Chart} title="Pages with a value" moments=${moments} series=${state.attributes.map((name, index) => ({ name, hue: hue(index), values: own.map((one) => one?.fill[name] ?? null) }))} /></div></section>`;
}

function Heals({ site, list }) {
  return html`<section class="card stack" aria-label="Healed"><h2>Healed</h2>${[...list].reverse().map((one) => html`<article class="stack small" key=${one.finished}>
    <div class="row"><strong>${when(one.finished)}</strong>${one.version ? html`<a href=${address("rules", { site, version: String(one.version) })}>version ${one.version}</a>` : null}
      <${Badge} kind="good">${one.healed.length} learned again<//>${one.lost.length ? html`<${Badge} kind="bad">${one.lost.length} lost<//>` : null}</div>
    <ul>${one.healed.map((repair) => html`<li>${repair.cluster}, ${repair.attribute}: ${repair.how}</li>`)}${one.lost.map((loss) => html`<li>${loss.cluster}, ${loss.attribute} is lost: ${loss.why}</li>`)}</ul></article>`)}</section>`;
}
