// The live table: the records of all sample pages, extracted with the current rules. A click on a value goes to it.
import { Resizer, useWidths, widthStyle } from "../columns.js";
import { html, useState } from "../lib.js";
import { Badge, Dot, hue, percent } from "../parts.js";
import { complain } from "../store.js";
import { LabelHistory } from "./history.js";

const SHOWN = { absent: "not on this page", missing: "not found", open: "" };

export function RecordsTable({ model }) {
  const session = model.session.value;
  const [filter, setFilter] = useState("");
  const [order, setOrder] = useState(null); // the attribute that sorts, or null for the order of the sample
  const [isHistory, showHistory] = useState(false);
  const widths = useWidths(`${model.site}/${model.cluster}`);
  const labeled = session.rows.filter((row) => row.labeled).length;
  const rows = arrange(session.rows, filter, order);
  const sort = (name) => setOrder(order === name ? null : name);
  return html`
    <div class="row spread caption"><span class="row tablist" role="group" aria-label="What the table shows">
        ${[["Records", false], ["Labels", true]].map(([name, value]) => html`<button key=${name} type="button" class="tabname" aria-pressed=${String(isHistory === value)} onclick=${() => showHistory(value)}>${name}</button>`)}</span>
      <span class="row"><input type="search" class="small" placeholder="Filter" aria-label=${isHistory ? "Filter the labels" : "Filter the records"} value=${filter} oninput=${(event) => setFilter(event.target.value)} />
        <span class="tiny soft">${filter && !isHistory ? `${rows.length} of ${session.rows.length} pages · ` : ""}${labeled} of ${session.rows.length} sample pages labeled</span></span></div>
    ${isHistory ? html`<${LabelHistory} model=${model} filter=${filter} />` : html`<div class="scroll" tabindex="0" role="region" aria-label="Records"><table>
      <thead><tr><th scope="col"><span style=${widthStyle(widths.width("Page"))}>Page</span><${Resizer} column="Page" widths=${widths} /></th>${session.attributes.map((one, index) => html`<th key=${one.name} scope="col" aria-sort=${order === one.name ? "ascending" : null}>
        <button type="button" class="head row" title="Sort by this attribute; again for the order of the sample" onclick=${() => sort(one.name)}><${Dot} hue=${hue(index)} />${one.name}
          ${one.coverage === null ? null : html`<span class="tiny soft number" title="share of the other sample pages on which the rule finds something">${percent(one.coverage)}</span>`}${order === one.name ? " ↓" : ""}</button><${Resizer} column=${one.name} widths=${widths} /></th>`)}</tr></thead>
      <tbody>${rows.map(([row, index]) => html`<${Row} key=${row.page} model=${model} row=${row} index=${index} widths=${widths} />`)}</tbody></table>
      ${rows.length ? null : html`<p class="small soft caption">No record contains “${filter}”.</p>`}</div>`}`;
}

// The rows with all words of the filter, and their numbers, in the order of an attribute's values.
function arrange(rows, filter, order) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (row) => [row.title, row.page, ...Object.values(row.cells).flatMap(({ state, texts }) => [SHOWN[state] ?? "", ...texts])].join(" ").toLowerCase();
  const found = rows.map((row, index) => [row, index]).filter(([row]) => words.every((word) => text(row).includes(word)));
  const key = ([row]) => row.cells[order].texts.join(" ");
  return order ? found.sort((one, other) => key(one).localeCompare(key(other), undefined, { numeric: true })) : found;
}

function Row({ model, row, index, widths }) {
  const isHere = row.page === model.page.value.page;
  const isNext = row.page === model.session.value.next;
  const open = (attribute) => openValue(model, row.page, attribute).catch(complain);
  return html`<tr class=${isHere ? "here" : null} aria-current=${isHere ? "true" : null}>
    <th scope="row"><button type="button" class="link cut" title=${row.url} style=${widthStyle(widths.width("Page"))} onclick=${() => open(null)}>${index + 1}. ${row.title || row.page}</button>
      ${row.flag !== null ? html`<${Badge} kind="warn" title=${row.flag}>left aside<//>` : row.labeled ? html`<${Badge} kind="good">labeled<//>` : isNext ? html`<${Badge} kind="warn">next<//>` : null}</th>
    ${model.session.value.attributes.map(({ name }) => html`<${Cell} key=${name} cell=${row.cells[name]} width=${widths.width(name)} open=${() => open(name)} />`)}</tr>`;
}

// Goes to a value on its page, and makes its attribute active.
async function openValue(model, page, attribute) {
  if (page !== model.heading.value) await model.turnTo(page, attribute);
  if (!attribute) return;
  await model.choose(model.session.value.attributes.findIndex((one) => one.name === attribute));
  model.reveal(attribute);
}

function Cell({ cell: { state, texts, confidence }, width, open }) {
  const shown = SHOWN[state] ?? texts.join(" · ");
  const title = confidence === null ? shown : `${shown} (${percent(confidence)} sure)`;
  return html`<td class=${`cell ${state}`} title=${title} onclick=${open}><div class="cut" style=${widthStyle(width)}>${shown}</div></td>`;
}
