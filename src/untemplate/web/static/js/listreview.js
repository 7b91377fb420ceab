// Review of list pages: the rows that the rules are not sure about. They are corrected in Lists.
import { html } from "./lib.js";
import { Badge, count, Empty, percent } from "./parts.js";
import { address } from "./store.js";

export function ListReview({ site, cluster, review }) {
  if (!review.doubts.length) {
    return html`<${Empty} isView title="Nothing to review"><p>The rules are sure about all rows of ${count(review.pages, "page")}.</p>
      <p><a class="button" href=${address("export", { site })}>Export the records</a></p><//>`;
  }
  return html`<div class="column"><div class="row spread"><h2>Doubtful rows</h2><span class="small soft">${count(review.doubts.length, "doubtful value")} on ${count(review.pages, "page")}</span></div>
    <section class="card"><div class="scroll" tabindex="0" role="region" aria-label="Doubtful rows"><table>
      <thead><tr>${["Page", "Row", "Attribute", "Value", "Why"].map((name) => html`<th key=${name} scope="col">${name}</th>`)}<th scope="col"><span class="unseen">Actions</span></th></tr></thead>
      <tbody>${review.doubts.map((one) => html`<tr key=${`${one.page} ${one.row} ${one.attribute}`}>
        <td class="wrap">${one.page}</td><td class="number">${one.row ?? ""}</td><td>${one.attribute ?? ""}</td><td>${one.texts.join(" · ") || html`<em class="soft">nothing</em>`}</td>
        <td><${Badge} kind="warn">${one.reason}<//> ${one.texts.length ? html`<span class="tiny soft number">${percent(one.confidence)} sure</span>` : null}</td>
        <td><a class="button small" aria-label=${`Correct row ${one.row ?? ""} of ${one.page}`} href=${address("lists", { site, cluster, page: one.page })}>Correct</a></td></tr>`)}</tbody></table></div></section></div>`;
}
