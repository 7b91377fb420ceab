// Lists: the rows of a list page. They are found without labels; people name the columns, or click the values of two rows.
import { get, post, put } from "./api.js";
import { FrameLink, pickMode } from "./framelink.js";
import { belongsToControl } from "./keys.js";
import { html, signal, useEffect, useMemo, useRef } from "./lib.js";
import { Badge, Button, count, Dot, Empty, hue, percent } from "./parts.js";
import { address, complain, go, refresh, say } from "./store.js";

export function ListsView({ site, cluster, parameters }) {
  if (!cluster) return html`<${Empty} title="No list pages yet"><p>Pages that show many records, such as search results, become tables here. <a href="#/start">Add a site</a> first.</p><//>`;
  const lists = site.clusters.filter((one) => one.kind === "list");
  const shown = parameters.cluster || !lists.length ? cluster : lists[0];
  if (!shown.pages_stored.length) return html`<${Empty} title="No page"><p>The catalog has no page of this template.</p><//>`;
  return html`<${ListDesk} key=${`${site.site} ${shown.cluster}`} site=${site.site} cluster=${shown} page=${parameters.page} />`;
}

class ListModel {
  constructor(site, pages, page) {
    this.site = site;
    this.pages = pages;
    this.page = signal(pages.includes(page) ? page : pages[0]);
    this.list = signal(null);
    this.columns = signal({}); // the attributes that people gave to columns of the proposal
    this.cell = signal(null); // {record, attribute}: the cell that the next click fills
    this.done = signal([]); // changes that can be undone
    this.isBusy = signal(false);
  }

  attach(holder) {
    this.frame = new FrameLink(holder, { pick: (picked) => this.pick(picked), key: (event) => this.press(event), cursor() {} });
  }

  async turnTo(page) {
    this.page.value = page;
    this.isBusy.value = true;
    const [shown, list] = await Promise.all([get("page", { site: this.site, page }), get("list", { site: this.site, page })]);
    if (page !== this.page.value) return;
    await this.frame.load(this.site, shown);
    this.show(list);
    this.isBusy.value = false;
  }

  step(by) {
    const { length } = this.pages;
    return this.turnTo(this.pages[(this.pages.indexOf(this.page.value) + by + length) % length]);
  }

  show(list) {
    this.list.value = list;
    this.columns.value = Object.fromEntries(list.columns.filter((one) => one.attribute).map((one) => [one.name, one.attribute]));
    const place = (name) => hue(list.attributes.findIndex((one) => one.name === name));
    this.frame.order("marks", { marks: list.marks.map((mark) => ({
      kind: list.rows[mark.row].labeled.includes(mark.attribute) ? "label" : "found", items: mark.items, confidence: 1, hue: place(mark.attribute), name: mark.attribute })) });
  }

  choose(record, attribute) {
    const { attributes, marks, rows } = this.list.value;
    const index = attributes.findIndex((one) => one.name === attribute);
    this.cell.value = { record, attribute };
    this.frame.order("mode", { mode: pickMode(attributes[index]), hue: hue(index), many: false, name: attribute });
    const mark = marks.find((one) => rows[one.row].record === record && one.attribute === attribute) ?? marks.find((one) => rows[one.row].record === record);
    if (mark) this.frame.order("reveal", { items: mark.items });
  }

  // Starts a new row, which the next clicks fill.
  addRow() {
    const names = new Set(this.list.value.rows.map((one) => one.record));
    let number = 1;
    while (names.has(`my row ${number}`)) number += 1;
    this.choose(`my row ${number}`, this.list.value.attributes[0].name);
  }

  async send(request) {
    this.isBusy.value = true;
    try {
      const { change, list } = await request;
      this.done.value = [...this.done.value, { page: list.page, ...change }];
      this.show(list);
      return true;
    } catch (error) {
      complain(error);
      return false;
    } finally {
      this.isBusy.value = false;
    }
  }

  nameColumns() {
    return this.send(put("list/columns", { site: this.site, page: this.page.value, columns: this.columns.value }));
  }

  async fill(click) {
    const { record, attribute } = this.cell.value;
    if (!(await this.send(put("list/cell", { site: this.site, page: this.page.value, record, attribute, click })))) return;
    const { attributes, rows } = this.list.value;
    const next = attributes[attributes.findIndex((one) => one.name === attribute) + 1];
    const row = rows.find((one) => one.record === record);
    if (record.startsWith("my row") && next && !row?.cells[next.name]?.length) this.choose(record, next.name);
    else this.cell.value = null;
  }

  pick({ item, last, attribute, part }) {
    if (!this.cell.value) return say("Choose a cell of the table first, then click its value on the page; or add a row.");
    return this.fill({ item, last, attribute, part });
  }

  async undo() {
    const change = this.done.value.at(-1);
    if (!change) return say("Nothing to undo.");
    const { list } = await post("list/change", { site: this.site, page: change.page, restore: change.removed, remove: change.added });
    this.done.value = this.done.value.slice(0, -1);
    if (change.page === this.page.value) this.show(list);
  }

  async save() {
    const { version } = await post("rules/save", { site: this.site });
    say(`Rules saved as version ${version}.`);
    this.show(await get("list", { site: this.site, page: this.page.value }));
    refresh();
  }

  press({ key, ctrlKey, metaKey }) {
    const name = (ctrlKey || metaKey) && key === "z" ? "u" : ctrlKey || metaKey ? "" : key;
    const actions = { u: () => this.undo(), j: () => this.step(1), k: () => this.step(-1), s: () => this.save(), x: () => this.cell.value && this.fill(null), Escape: () => { this.cell.value = null; } };
    if (!actions[name]) return false;
    Promise.resolve(actions[name]()).catch(complain);
    return true;
  }
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
    <div class="frame" ref=${holder} aria-busy=${String(model.isBusy.value)}></div>
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
    <${Button} kind="small" title="For a list that was not found: click the values of two of its rows" onclick=${() => model.addRow()}>Add a row by clicks<//>
    <${Button} label="Undo" title="Undo (u)" kind="small" disabled=${!model.done.value.length} onclick=${() => model.undo().catch(complain)}>↶<//>
    ${list && !list.is_proposal ? (list.saved ? html`<${Badge} kind="good">saved<//><${Button} kind="small" onclick=${() => go("export", { site: model.site })}>Export<//>`
      : html`<${Button} kind="primary small" keys="s" onclick=${() => model.save().catch(complain)}>Save rules<//>`) : null}
    <a class="button small" href=${address("rules", { site: model.site, cluster: cluster.cluster })}>Rules</a>`;
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
  return html`<div class="row spread caption"><span><strong class="small">Proposal: ${count(list.rows.length, "row")}</strong><span class="small soft"> Say which columns you want; the rules for all pages follow from two rows.</span></span>
      <${Button} kind="primary small" disabled=${!chosen} onclick=${() => model.nameColumns()}>Use ${count(chosen, "column")}<//></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Proposed rows"><table>
      <thead><tr>${list.columns.map((one) => html`<th key=${one.name} scope="col"><div class="stack tight"><span>${one.name}</span>
        <select aria-label=${`Attribute of column ${one.name}`} onchange=${(event) => name(one.name, event.target.value)}><option value="">not wanted</option>
          ${list.attributes.map((attribute) => html`<option key=${attribute.name} value=${attribute.name} selected=${columns.value[one.name] === attribute.name}>${attribute.name}</option>`)}</select></div></th>`)}</tr></thead>
      <tbody>${list.rows.map((row, index) => html`<tr key=${index}>${list.columns.map((one) => html`<td key=${one.name} class=${columns.value[one.name] ? "cell labeled" : "cell"}><div class="cut">${row.cells[one.name]?.join(" · ")}</div></td>`)}</tr>`)}</tbody></table></div>`;
}

// The rows that the rules find. A click on a cell, then on its value on the page, corrects it.
function RowTable({ model, list }) {
  const filled = (name) => list.rows.filter((row) => row.cells[name]?.length).length / list.rows.length;
  const isChosen = (row, name) => model.cell.value?.record === row.record && model.cell.value.attribute === name;
  return html`<div class="row spread caption"><strong class="small">${count(list.rows.length, "row")}</strong><span class="tiny soft">Click a cell to correct it</span></div>
    <div class="scroll" tabindex="0" role="region" aria-label="All rows"><table>
      <thead><tr><th scope="col">Row</th>${list.attributes.map((one, index) => html`<th key=${one.name} scope="col"><span class="row"><${Dot} hue=${hue(index)} />${one.name}<span class="tiny soft number">${percent(filled(one.name))}</span></span></th>`)}</tr></thead>
      <tbody>${list.rows.map((row, index) => html`<tr key=${row.record}><th scope="row">${index + 1} ${row.labeled.length ? html`<${Badge} kind="good">labeled<//>` : null}</th>
        ${list.attributes.map(({ name }) => html`<td key=${name} class=${`cell ${row.labeled.includes(name) ? "labeled" : row.cells[name]?.length ? "found" : "missing"}${isChosen(row, name) ? " chosen" : ""}`}>
          <button type="button" class="link cut" aria-label=${`Correct ${name} of row ${index + 1}: ${row.cells[name]?.join(" · ") || "nothing"}`} onclick=${() => model.choose(row.record, name)}>${row.cells[name]?.join(" · ") || "–"}</button></td>`)}</tr>`)}</tbody></table></div>`;
}
