// Rules: each rule in words and XPath with examples, all versions, their differences, and rollback.
import { get, post } from "./api.js";
import { html } from "./lib.js";
import { Badge, Button, Dot, Empty, hue, Meter, percent, useAnswer, when, Words } from "./parts.js";
import { address, ask, complain, go, refresh, say } from "./store.js";

export function RulesView({ site, cluster, parameters }) {
  const version = Number(parameters.version) || null;
  const rules = useAnswer(async () => (site?.version ? get("rules", { site: site.site, ...(version ? { version } : {}) }) : null), [site, version]);
  if (!site?.version) return html`<${Empty} isView title="No rules yet"><p>Rules are learned from the values that you click. <a href="#/start">Add a site</a> to begin.</p><//>`;
  if (!rules) return null;
  const wrapper = rules.wrappers.find((one) => one.cluster === cluster?.cluster) ?? rules.wrappers[0];
  const target = { site: site.site, cluster: wrapper.cluster };
  return html`<div class="column">
    <div class="row spread"><h1>Rules</h1><${Downloads} site=${site} rules=${rules} wrapper=${wrapper} /></div>
    ${rules.saved ? null : html`<div class="notice"><span class="grow">Labels added since the newest version lead to other rules.</span>
      <${Button} onclick=${() => differ(site.site, rules.newest, null)}>Show differences<//>
      <${Button} kind="primary" onclick=${() => save(site.site)}>Save as a version<//></div>`}
    ${rules.version === rules.newest ? null : html`<div class="notice"><span class="grow">This is version ${rules.version}; the newest is ${rules.newest}.</span>
      <${Button} onclick=${() => go("rules", target)}>Show the newest<//></div>`}
    <section class="card stack"><header><h2>${cluster?.name || wrapper.cluster}</h2><span class="mono small soft wrap">${wrapper.url_pattern}</span></header>
      ${wrapper.records ? html`<p class="small">List pages, one record per row: ${wrapper.records}.</p>` : null}
      ${wrapper.rules.some((one) => one.words) ? null : html`<p class="soft">No rules yet: <a href=${address("annotate", target)}>label a page of this template</a>.</p>`}
      ${wrapper.rules.map((one, index) => html`<${RuleBox} key=${one.attribute} one=${one} index=${index} />`)}</section>
    <${Versions} site=${site.site} cluster=${wrapper.cluster} rules=${rules} /></div>`;
}

function Downloads({ site, rules, wrapper }) {
  const link = (path, parameters) => `/api/${path}?${new URLSearchParams({ site: site.site, version: rules.version, ...parameters })}`;
  return html`<div class="row"><a class="button" download href=${link("rules/file", {})}>Download JSON</a>
    ${wrapper.rules.some((one) => one.words) ? html`<a class="button" download href=${link("rules/xslt", { cluster: wrapper.cluster })}>Download XSLT</a>` : null}</div>`;
}

function RuleBox({ one, index }) {
  const state = one.lost ? html`<${Badge} kind="bad">lost: the site changed<//>`
    : !one.words ? html`<${Badge} kind="warn">no rule<//>`
    : one.coverage === null ? null : html`<${Meter} share=${one.coverage} />`;
  return html`<article class="rulebox" style=${{ "--hue": hue(index) }}>
    <div class="row spread"><h3 class="row"><${Dot} hue=${hue(index)} />${one.attribute}<span class="tiny soft">${one.type}</span></h3>${state}</div>
    ${one.words ? html`<p><${Words} text=${one.words} /></p>` : null}
    ${one.examples.length ? html`<div class="row examples">${one.examples.map((example) => html`<span class="value tint cut" title=${example.page}>${example.texts.join(" · ")}</span>`)}</div>` : null}
    ${one.words ? html`<details><summary class="small">XPath: ${one.selectors.length} tried in order, ${one.committee.length} that check the value</summary>
      <${Selectors} title="Tried in order" list=${one.selectors} /><${Selectors} title="Checks" list=${one.committee} />
      ${one.no_xslt ? html`<p class="tiny soft">Not in the XSLT file: ${one.no_xslt}</p>` : null}</details>` : null}</article>`;
}

function Selectors({ title, list }) {
  return list.length ? html`<div class="stack small"><strong>${title}</strong><ol>${list.map((one) => html`
    <li><div><${Words} text=${one.words} /><span class="soft"> (${percent(one.support)} of sample pages)</span></div><code class="wrap">${one.xpath}</code></li>`)}</ol></div>` : null;
}

function Versions({ site, cluster, rules }) {
  return html`<section class="card stack" aria-label="Versions"><h2>Versions</h2><div class="scroll" tabindex="0" role="region" aria-label="All versions"><table>
    <thead><tr><th class="figure" scope="col">Version</th><th scope="col">Saved</th><th scope="col">Why</th><th class="figure" scope="col">Rules</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
    <tbody>${[...rules.history].reverse().map((one) => html`<tr key=${one.number} class=${one.number === rules.version ? "here" : null}>
      <td class="figure">${one.number}</td><td>${when(one.saved)}</td>
      <td><${Badge} kind=${one.reason === "healed" ? "good" : ""}>${one.reason}<//><span class="soft">  ${one.note}</span></td><td class="figure">${one.rules}</td>
      <td><div class="row end">
        <${Button} kind="small" label=${`Show version ${one.number}`} onclick=${() => go("rules", { site, cluster, version: String(one.number) })}>Show<//>
        ${one.number > 1 ? html`<${Button} kind="small" label=${`What changed in version ${one.number}`} onclick=${() => differ(site, one.number - 1, one.number)}>What changed<//>` : null}
        ${one.number === rules.newest ? null : html`<${Button} kind="small" label=${`Roll back to version ${one.number}`} onclick=${() => rollback(site, one.number)}>Roll back<//>`}</div></td></tr>`)}</tbody></table></div></section>`;
}

async function save(site) {
  try {
    say(`Saved as version ${(await post("rules/save", { site })).version}.`);
    refresh();
  } catch (error) {
    complain(error);
  }
}

async function rollback(site, version) {
  try {
    const { version: fresh } = await post("rules/rollback", { site, version });
    say(`Version ${version} is back, as version ${fresh}.`);
    go("rules", { site });
    refresh();
  } catch (error) {
    complain(error);
  }
}

async function differ(site, old, fresh) {
  try {
    const found = await get("rules/diff", { site, old, ...(fresh ? { new: fresh } : {}) });
    ask(fresh ? `What changed from version ${old} to ${fresh}` : "What the labels change",
      found.length ? html`<div class="stack diff">${found.map((one) => html`<article class="stack small">
        <h3>${[one.cluster ?? "schema", one.attribute].filter(Boolean).join(": ")}</h3>
        ${one.before ? html`<div class="side-before">− <${Words} text=${one.before} /></div>` : null}
        ${one.after ? html`<div class="side-after">+ <${Words} text=${one.after} /></div>` : null}</article>`)}</div>` : html`<p>No rule differs.</p>`);
  } catch (error) {
    complain(error);
  }
}
