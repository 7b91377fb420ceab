// Clean-up of an attribute: all of its values are cut in the same way. What comes out is shown for all pages before it is taken.
import { get, post } from "../api.js";
import { html, useEffect, useState } from "../lib.js";
import { Badge, Button, count, useAnswer } from "../parts.js";
import { ask, closeDialog, complain } from "../store.js";

const PAUSE = 250; // milliseconds without a key after which the preview is learned
const same = (one, other) => one.join("\n") === other.join("\n");

export function cleanUp(model, name) {
  ask(`Clean up ${name}`, html`<${CleanUp} model=${model} name=${name} />`, "wide");
}

function CleanUp({ model, name }) {
  const attribute = model.attributeNamed(name);
  const schema = useAnswer(() => get("schema", { site: model.site }), [model.site]);
  const [cut, setCut] = useState({ after: "", before: "", trims: false, type: null });
  const [pages, setPages] = useState(null);
  const [problem, setProblem] = useState(null);
  const change = (changed) => setCut({ ...cut, ...changed });
  const body = { site: model.site, page: model.page.value.page, attribute: name, ...cut };
  useEffect(() => {
    let isCurrent = true;
    const ask = () => post("cleanup/preview", body).then((answer) => { if (isCurrent) { setPages(answer.pages); setProblem(null); } }).catch((error) => { if (isCurrent) setProblem(error.message); });
    const later = setTimeout(ask, pages ? PAUSE : 0);
    return () => {
      isCurrent = false;
      clearTimeout(later);
    };
  }, [cut]);
  const apply = () => model.cleanUp(body).then(closeDialog).catch(complain);
  const isNothing = !cut.after && !cut.before && !cut.trims && !cut.type;
  return html`<div class="stack">
    <div class="form">
      <label for="cut-after">Keep what follows</label><input id="cut-after" type="text" autofocus placeholder="such as Price:" value=${cut.after} oninput=${(event) => change({ after: event.target.value })} />
      <label for="cut-before">Keep what comes before</label><input id="cut-before" type="text" placeholder="such as (incl." value=${cut.before} oninput=${(event) => change({ before: event.target.value })} />
      <label for="cut-type">Type</label><select id="cut-type" onchange=${(event) => change({ type: event.target.value === attribute.type ? null : event.target.value })}>
        ${(schema?.types ?? [attribute.type]).map((type) => html`<option key=${type} selected=${type === (cut.type ?? attribute.type)}>${type}</option>`)}</select>
      <span>Trim</span><label class="switch"><input type="checkbox" checked=${cut.trims} onchange=${(event) => change({ trims: event.target.checked })} />Remove signs and blanks at both ends</label></div>
    ${problem ? html`<div class="notice bad small">${problem}</div>` : html`<${Preview} pages=${pages} />`}
    <div class="row"><${Button} kind="primary" disabled=${isNothing || Boolean(problem) || !pages} onclick=${apply}>Clean up<//><span class="small soft">u takes cut labels back.</span></div></div>`;
}

function Preview({ pages }) {
  if (!pages) return html`<p class="small soft" role="status">Trying all sample pages …</p>`;
  const changed = pages.filter((one) => !same(one.before, one.after)).length;
  const lost = pages.filter((one) => one.before.length && !one.after.length).length;
  return html`<div class="row small" role="status"><strong>${changed ? `Changes ${count(changed, "page")} of ${pages.length}` : "Changes nothing yet"}</strong>
      ${lost ? html`<${Badge} kind="bad">${count(lost, "page")} without a value<//>` : null}</div>
    <div class="scroll preview" tabindex="0" role="region" aria-label="Values before and after"><table><thead><tr><th scope="col">Page</th><th scope="col">Now</th><th scope="col">After</th></tr></thead>
      <tbody>${pages.map((one) => html`<tr key=${one.page}><td><div class="cut">${one.title || one.page}</div></td><td class="soft">${one.before.join(" · ") || "nothing"}</td>
        <td>${one.after.length ? (same(one.before, one.after) ? one.after.join(" · ") : html`<strong>${one.after.join(" · ")}</strong>`) : html`<${Badge} kind=${one.before.length ? "bad" : ""}>nothing<//>`}</td></tr>`)}</tbody></table></div>`;
}
