// Who labeled what and when: the labels of a template, the latest first, with those that were removed.
import { get } from "../api.js";
import { html } from "../lib.js";
import { Badge, useAnswer, when } from "../parts.js";
import { complain } from "../store.js";

export function LabelHistory({ model, filter }) {
  const events = useAnswer(() => get("labels", { site: model.site, cluster: model.cluster }), [model.session.value]);
  if (!events) return null;
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (one) => [one.page, one.attribute, one.value ?? "not on this page", one.by, one.removed ? "removed" : ""].join(" ").toLowerCase();
  const shown = events.filter((one) => words.every((word) => text(one).includes(word)));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Labels"><table>
    <thead><tr>${["When", "Who", "Attribute", "Value", "Page"].map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
    <tbody>${shown.map((one) => html`<tr key=${one.id} class=${one.removed ? "gone" : null}>
      <td class="nowrap number">${when(one.removed ?? one.added)}</td>
      <td>${one.removed ? html`${one.removed_by} <${Badge}>removed<//>` : one.by}</td><td>${one.attribute}</td>
      <td><div class="cut">${one.value ?? html`<em>not on this page</em>`}</div></td>
      <td><button type="button" class="link cut" onclick=${() => model.turnTo(one.page, one.attribute).catch(complain)}>${one.page}</button></td></tr>`)}</tbody></table>
    ${shown.length ? null : html`<p class="small soft caption">${events.length ? `No label contains “${filter}”.` : "No labels yet."}</p>`}</div>`;
}
