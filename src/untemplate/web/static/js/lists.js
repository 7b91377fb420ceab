// Lists: the rows of a list page. They are found without labels; people name the columns, or click the values of two rows.
import { belongsToControl } from "./keys.js";
import { html, useEffect, useMemo, useRef } from "./lib.js";
import { help, ListModel } from "./listmodel.js";
import { Badge, Button, count, Dot, Empty, hue, percent } from "./parts.js";
import { editSchema } from "./schema.js";
import { address, complain, go } from "./store.js";

export function ListsView({ site, cluster, parameters }) {
  if (!cluster) return html`<${Empty} title="No list pages yet"><p>Pages that show many records, such as search results, become tables here. <a href="#/start">Add a site</a> first.</p><//>`;
  if (!cluster.pages_stored.length) return html`<${Empty} title="No page"><p>The catalog has no page of this template.</p><//>`;
  return html`<${ListDesk} key=${`${site.site} ${cluster.cluster}`} site=${site.site} cluster=${cluster} page=${parameters.page} />`;
}

function ListDesk({ site, cluster, page }) {
  const model = useMemo(() => new ListModel(site, cluster.pages_stored, page), []);
  const holder = useRef();
  useEffect(() => {
    model.attach(holder.current);
    model.turnTo(model.page.value).catch(complain);
    const onkey = (event) => { if (!belongsToControl(event) && model.press(event)) event.preventDefault(); };
    document.addEventListener("keydown", onkey);
    return () => {
      document.removeEventListener("keydown", onkey);
      model.frame.close();
    };
  }, []);
  const list = model.list.value;
  return html`<div class="lists"><div class="pagebar"><${ListBar} model=${model} cluster=${cluster} /></div>
    <div class="frame" ref=${holder} tabindex="-1" role="group" aria-label="The page" aria-busy=${String(model.isBusy.value)}></div>
    <section class="records" aria-label="Rows" aria-busy=${String(model.isBusy.value)}>${list ? html`<${list.is_proposal ? ProposalTable : RowTable} model=${model} list=${list} />` : null}</section></div>`;
}

function ListBar({ model, cluster }) {
  const list = model.list.value;
  const cell = model.cell.value;
  return html`
    <${Button} kind="small" label="Previous page" title="Previous page (k)" onclick=${() => model.step(-1).catch(complain)}>‹<//>
    <span class="small number soft nowrap">${model.pages.indexOf(model.page.value) + 1} of ${model.pages.length}</span>
    <${Button} kind="small" label="Next page" title="Next page (j)" onclick=${() => model.step(1).catch(complain)}>›<//>
    <span class="grow cut small">${cell ? html`<strong>Click the value of ${cell.attribute}</strong> on the page, or x if the row does not have it` : model.page.value}</span>
    <span class="cursor cut small soft" aria-live="polite">${model.nothingFound.value ? "not on this page" : model.cursor.value?.text ?? ""}</span>
    <input type="search" placeholder="Find on the page" aria-label="Find a text on the page" oninput=${(event) => model.frame.order("find", { text: event.target.value })} onkeydown=${(event) => typed(model, event)} />
    <${Button} kind="small" title="For a list that was not found: click the values of two of its rows" onclick=${() => model.addRow()}>Add a row by clicks<//>
    <${Button} label="Undo" title="Undo (u)" kind="small" disabled=${!model.done.value.length} onclick=${() => model.undo().catch(complain)}>↶<//>
    ${list && !list.is_proposal ? (list.saved ? html`<${Badge} kind="good">saved<//><${Button} kind="small" onclick=${() => go("export", { site: model.site })}>Export<//>`
      : html`<${Button} kind="primary small" keys="s" onclick=${() => model.save().catch(complain)}>Save rules<//>`) : null}
    <${Button} kind="small" title="Add, rename, describe or remove attributes" onclick=${() => editSchema(model.site, () => model.turnTo(model.page.value).catch(complain))}>Attributes<//>
    <a class="button small" href=${address("rules", { site: model.site, cluster: cluster.cluster })}>Rules</a>
    <${Button} kind="small" label="Keys" onclick=${help}>?<//>`;
}

function typed(model, event) {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  event.target.value = "";
  model.nothingFound.value = false;
  if (event.key === "Enter" && model.cell.value) model.take();
  model.holder.focus({ preventScroll: true });
}

// The rows that repeat, with a choice of an attribute above each column.
function ProposalTable({ model, list }) {
  const { columns } = model;
  const name = (column, attribute) => {
    const kept = Object.entries(columns.value).filter(([key, value]) => key !== column && value !== attribute);
    columns.value = Object.fromEntries(attribute ? [...kept, [column, attribute]] : kept);
  };
  if (!list.rows.length) return html`<${Empty} title="No rows found"><p>${list.reason}. Click the values of two rows instead: <em>Add a row by clicks</em>.</p><//>`;
  const chosen = Object.keys(columns.value).length;
  const shown = [...list.columns].sort((one, other) => Number(!one.attribute) - Number(!other.attribute)); // likely ones first
  return html`<div class="row spread caption"><span><strong class="small">Proposal: ${count(list.rows.length, "row")}</strong><span class="small soft"> Say which columns you want; the rules for all pages follow from two rows.</span></span>
      <${Button} kind="primary small" disabled=${!chosen} onclick=${() => model.nameColumns()}>Use ${count(chosen, "column")}<//></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Proposed rows"><table>
      <thead><tr>${shown.map((one) => html`<th key=${one.name} scope="col"><div class="stack tight"><span>${one.name}</span>
        <select aria-label=${`Attribute of column ${one.name}`} onchange=${(event) => name(one.name, event.target.value)}><option value="">not wanted</option>
          ${list.attributes.map((attribute) => html`<option key=${attribute.name} value=${attribute.name} selected=${columns.value[one.name] === attribute.name}>${attribute.name}</option>`)}</select></div></th>`)}</tr></thead>
      <tbody>${list.rows.map((row, index) => html`<tr key=${index} onclick=${() => model.revealRow(index)}>${shown.map((one) => html`<td key=${one.name} class=${columns.value[one.name] ? "cell labeled" : "cell"}><div class="cut">${row.cells[one.name]?.join(" · ")}</div></td>`)}</tr>`)}</tbody></table></div>`;
}

// The rows that the rules find. A click on a cell, then on its value on the page, corrects it.
function RowTable({ model, list }) {
  const filled = (name) => list.rows.filter((row) => row.cells[name]?.length).length / list.rows.length;
  const isChosen = (row, name) => model.cell.value?.record === row.record && model.cell.value.attribute === name;
  return html`<div class="row spread caption"><strong class="small">${count(list.rows.length, "row")}</strong><span class="tiny soft">Click a cell to correct it</span></div>
    <div class="scroll" tabindex="0" role="region" aria-label="All rows"><table>
      <thead><tr><th scope="col">Row</th>${list.attributes.map((one, index) => html`<th key=${one.name} scope="col"><span class="row"><${Dot} hue=${hue(index)} />${one.name}<span class="tiny soft number">${percent(filled(one.name))}</span></span></th>`)}</tr></thead>
      <tbody>${list.rows.map((row, index) => html`<tr key=${row.record}><th scope="row">${index + 1} ${row.labeled.length ? html`<${Badge} kind="good">labeled<//>` : null}</th>
        ${list.attributes.map(({ name }) => html`<td key=${name} class=${`cell ${row.labeled.includes(name) ? "labeled" : row.cells[name]?.length ? "found" : "missing"}${row.contradicted.includes(name) ? " contradicted" : ""}${isChosen(row, name) ? " chosen" : ""}`} title=${row.contradicted.includes(name) ? "You labeled this; the rules find something else in such a row" : null}>
          <button type="button" class="link cut" data-record=${row.record} data-attribute=${name} aria-label=${`Correct ${name} of row ${index + 1}: ${row.cells[name]?.join(" · ") || "nothing"}`} onclick=${() => model.choose(row.record, name)}>${row.cells[name]?.join(" · ") || "–"}</button></td>`)}</tr>`)}</tbody></table></div>`;
}
