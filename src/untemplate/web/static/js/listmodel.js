// What Lists shows: a page, its rows, and the cell that the next click fills; what a person changes of them.
import { get, post, put } from "./api.js";
import { FrameLink, pickMode } from "./framelink.js";
import { showKeys } from "./keys.js";
import { signal } from "./lib.js";
import { hue } from "./parts.js";
import { complain, refresh, say } from "./store.js";

const ROW_HUE = 265; // of proposed rows

export class ListModel {
  constructor(site, pages, page) {
    this.site = site;
    this.pages = pages;
    this.page = signal(pages.includes(page) ? page : pages[0]);
    this.list = signal(null);
    this.columns = signal({}); // the attributes that people gave to columns of the proposal
    this.cell = signal(null); // {record, attribute}: the cell that the next click fills
    this.done = signal([]); // changes that can be undone
    this.isBusy = signal(false);
    this.cursor = signal(null); // the text that the keyboard is at
    this.nothingFound = signal(false); // whether the last search found nothing
  }

  attach(holder) {
    this.holder = holder;
    this.frame = new FrameLink(holder, {
      pick: (picked) => this.pick(picked),
      key: (event) => this.press(event),
      cursor: ({ text, item }) => { this.cursor.value = text ? { text, item } : null; },
      found: ({ found }) => { this.nothingFound.value = !found; },
    });
  }

  async turnTo(page) {
    this.page.value = page;
    this.isBusy.value = true;
    const [shown, list] = await Promise.all([get("page", { site: this.site, page }), get("list", { site: this.site, page })]);
    if (page !== this.page.value) return;
    await this.frame.load(this.site, shown);
    this.cell.value = null;
    this.show(list);
    this.frame.order(...(list.marks.length ? ["reveal", { items: list.marks[0].items }] : ["main"]));
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
      kind: mark.attribute === null ? "row" : list.rows[mark.row].labeled.includes(mark.attribute) ? "label" : "found", items: mark.items, confidence: 1,
      hue: mark.attribute === null ? ROW_HUE : place(mark.attribute), name: mark.attribute })) });
  }

  // Shows where a row is on the page.
  revealRow(index) {
    const mark = this.list.value.marks.find((one) => one.row === index);
    if (mark) this.frame.order("reveal", { items: mark.items });
  }

  choose(record, attribute) {
    const { attributes, marks, rows } = this.list.value;
    const index = attributes.findIndex((one) => one.name === attribute);
    this.cell.value = { record, attribute };
    this.frame.order("mode", { mode: pickMode(attributes[index]), hue: hue(index), many: false, name: attribute });
    const mark = marks.find((one) => rows[one.row].record === record && one.attribute === attribute) ?? marks.find((one) => rows[one.row].record === record);
    if (mark) this.frame.order("reveal", { items: mark.items });
    this.holder.focus({ preventScroll: true }); // keys now mean the page: ↓ and Enter choose the value
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
    else this.leaveCell();
  }

  // Goes back to the cell in the table.
  leaveCell() {
    const { record, attribute } = this.cell.value ?? {};
    this.cell.value = null;
    this.frame.order("leave");
    const cells = [...document.querySelectorAll(".lists .records [data-record]")];
    cells.find((one) => one.dataset.record === record && one.dataset.attribute === attribute)?.focus({ preventScroll: true });
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

  // Labels the text that the keyboard is at; outside of a cell Enter means nothing.
  take() {
    if (this.cursor.value) this.frame.order("pick", { extend: false });
    else say("Go to a text with ↓ or / first.");
  }

  // Does what a key means; false if it means nothing.
  press({ key, ctrlKey, metaKey, altKey }) {
    const isControl = ctrlKey || metaKey;
    const name = isControl && key === "z" ? "u" : isControl || altKey ? "" : key;
    const inCell = Boolean(this.cell.value);
    const actions = {
      u: () => this.undo(), j: () => this.step(1), k: () => this.step(-1), s: () => this.save(), m: () => this.frame.order("main"),
      "/": () => document.querySelector(".lists .pagebar input[type=search]").focus(),
      "?": help,
      ...(inCell ? {
        x: () => this.fill(null), Escape: () => this.leaveCell(), Enter: () => this.take(),
        ArrowDown: () => this.frame.order("move", { by: 1 }), ArrowUp: () => this.frame.order("move", { by: -1 }),
      } : {}),
    };
    if (!actions[name]) return false;
    Promise.resolve(actions[name]()).catch(complain);
    return true;
  }
}

const KEYS = [
  [["Tab"], "go from cell to cell; Enter chooses one"], [["↓", "↑"], "in a chosen cell: go from text to text on the page; Enter labels it"], [["/"], "find a text on the page"],
  [["x"], "the row does not have it"], [["Esc"], "back to the table"], [["j", "k"], "next and previous page"], [["m"], "go to the main content"], [["u"], "undo"], [["s"], "save the rules"],
];

export function help() {
  showKeys(KEYS);
}
