// Annotate: the page, the attributes at its side, and the records of all sample pages, which change with every label.
import { get, post, put } from "./api.js";
import { panel } from "./chips.js";
import { button, h, hue, keepFocus, toast } from "./dom.js";
import { EmbeddedPanel } from "./embedded.js";
import { FrameLink } from "./framelink.js";
import { History } from "./history.js";
import { action, help } from "./keys.js";
import { address, complain, go } from "./main.js";
import { choosePart } from "./part.js";
import { recordsTable } from "./records.js";
import { Turns } from "./turns.js";

// A second click at most this many nodes away from a label extends the label. A click further away replaces it.
const NEAR = 8;

export async function open(outlet, context) {
  if (!context.cluster) {
    outlet.replaceChildren(h("div", { class: "empty" }, h("h2", {}, "No site yet"),
      h("p", {}, "Start with: ", h("code", {}, "untemplate annotate PAGES --schema S"))));
    return {};
  }
  const view = new Annotate(outlet, context);
  await view.start(context.parameters.page);
  return view;
}

class Annotate {
  constructor(outlet, context) {
    this.site = context.site.site;
    this.remote = context.site.remote;
    this.cluster = context.cluster.cluster;
    this.history = new History(this.site, this.cluster);
    this.active = 0;
    this.turns = new Turns();
    this.heading = null; // the page asked for last
    this.parts = { bar: h("div", { class: "pagebar" }), frame: h("div", { class: "frame" }), side: h("aside", { class: "side", "aria-label": "Attributes" }),
      data: h("aside", { class: "data", "aria-label": "Embedded data", hidden: true }),
      table: h("section", { class: "records", "aria-label": "Records of the sample pages" }) };
    this.root = h("div", { class: "annotate", "data-completed": "0" }, this.parts.bar, this.parts.frame, this.parts.data, this.parts.side, this.parts.table);
    outlet.replaceChildren(this.root);
    this.embedded = new EmbeddedPanel(this.parts.data, this);
    this.proposal = null; // all places like the last two that were labeled
    this.declined = new Set(); // pages and attributes for which the person wants no proposal
    this.frame = new FrameLink(this.parts.frame, {
      pick: (picked) => this.pick(picked).catch(complain),
      key: (event) => this.press(event),
      cursor: ({ text, item }) => { this.cursor = text ? { text, item } : null; this.drawBar(); },
    });
    this.onkey = (event) => this.key(event);
    document.addEventListener("keydown", this.onkey);
  }

  close() {
    clearTimeout(this.later);
    document.removeEventListener("keydown", this.onkey);
    this.frame.close();
  }

  async start(page) {
    this.session = await get("session", { site: this.site, cluster: this.cluster });
    if (!this.session.rows.length) {
      this.parts.frame.replaceChildren(h("div", { class: "empty" }, "The catalog has no readable page of this template."));
      return;
    }
    const first = this.session.next ?? this.session.rows[0].page;
    try {
      await this.turnTo(page ?? first);
    } catch (error) {
      complain(error); // an old address may name a page that is not in the catalog any more
      await this.turnTo(first);
    }
  }

  // Called when the address changes. Another page of this cluster needs no new view.
  update({ site, cluster, parameters }) {
    if (site?.site !== this.site || cluster?.cluster !== this.cluster || site.remote !== this.remote) return false;
    const page = parameters.page ?? this.session?.next;
    if (page && page !== this.heading) this.turnTo(page).catch(complain);
    return true;
  }

  changed(site, number) {
    if (site !== null && site !== this.site) return;
    this.heard = number; // the latest change of the site, including our own
    clearTimeout(this.later);
    this.later = setTimeout(() => this.refresh().catch(complain), 120);
  }

  // Show what other windows changed. If one of our own requests came in between, ask again.
  async refresh() {
    if (!this.page) return;
    if (this.turns.busy) return this.changed(this.site, this.heard);
    if (this.heard <= this.session.changes) return;
    const before = this.turns.passed;
    const [session, marks] = await Promise.all([
      get("session", { site: this.site, cluster: this.cluster }), get("marks", { site: this.site, page: this.page.page })]);
    if (this.turns.busy || this.turns.passed !== before) return this.changed(this.site, this.heard);
    this.take(session, marks);
  }

  // Pages

  async turnTo(id) {
    this.heading = id;
    this.parts.frame.setAttribute("aria-busy", "true");
    try {
      const loaded = await this.turns.take(() => this.swap(id));
      if (!loaded) return; // another page was requested in the meantime
      await loaded.shown;
      this.sendMarks();
      const [first] = this.marks.marks;
      if (first) this.frame.order("reveal", { items: first.items });
      this.complete();
    } finally {
      if (this.heading === id) this.parts.frame.setAttribute("aria-busy", "false");
    }
  }

  async swap(id) {
    if (this.heading !== id) return null;
    const [page, marks] = await Promise.all([get("page", { site: this.site, page: id }), get("marks", { site: this.site, page: id })]);
    if (this.heading !== id) return null;
    this.page = page;
    this.cursor = null;
    this.extending = null;
    history.replaceState(null, "", address("annotate", { site: this.site, cluster: this.cluster, page: id }));
    this.marks = marks;
    this.proposal = null;
    this.active = this.firstOpen();
    this.draw();
    this.embedded.load(this.site, id).catch(complain);
    return { shown: this.frame.load(this.site, page) };
  }

  step(by) {
    const rows = this.session.rows;
    const index = rows.findIndex((row) => row.page === this.heading);
    const row = rows[(index + by + rows.length) % rows.length];
    return row.page === this.heading ? null : this.turnTo(row.page);
  }

  async next() {
    await this.turns.take(() => {});
    const { next } = this.session;
    if (!next) return toast("All sample pages are labeled.");
    if (next === this.page.page) return toast("This is the page that the rules are least sure about.");
    return this.turnTo(next);
  }

  // Attributes

  get attribute() {
    return this.session.attributes[this.active];
  }

  choose(index) {
    return this.turns.take(() => {
      if (!this.session.attributes[index]) return;
      this.active = index;
      this.draw();
      this.sendMode();
    });
  }

  own(name, kind = "label") {
    return this.marks.marks.filter((mark) => mark.attribute === name && mark.kind === kind);
  }

  isLabeled(name) {
    return this.marks.absent.includes(name) || this.own(name).length > 0;
  }

  // The first attribute without a label and a found value, or else the first one without a label.
  firstOpen(after = -1) {
    const names = this.session.attributes.map((one) => one.name);
    const order = [...names.slice(after + 1), ...names.slice(0, after + 1)];
    const empty = order.find((name) => !this.isLabeled(name) && !this.own(name, "found").length);
    const chosen = empty ?? order.find((name) => !this.isLabeled(name)) ?? names[Math.max(after, 0)];
    return names.indexOf(chosen);
  }

  // Labels

  // `unit` and `inner`: if a whole list item is picked, the item itself and the text under the pointer.
  pick({ item, last, attribute, part, extend, unit, inner }) {
    const { page } = this.page;
    return this.turns.take(() => {
      if (page !== this.page.page) return null; // another page is shown by now
      const latest = this.extending ?? this.attribute.name;
      if (extend && this.own(latest).length) return this.extend(latest, [item, last]);
      const { name, many } = this.attribute;
      const click = { item, last, attribute, part };
      const before = this.own(name);
      if (many) {
        const same = part ? null : before.find((mark) => mark.items.length && [item, unit, inner].includes(mark.items[0]));
        const kept = before.filter((mark) => mark !== same).map(clickOf);
        const whole = same && inner !== undefined && (same.items.length > 1 || same.items[0] === unit);
        // A second click on an item means only the text under the pointer, the next one nothing.
        const clicks = !same ? [...kept, click] : whole ? [...kept, { item: inner }] : kept;
        return this.label(name, clicks, Boolean(same));
      }
      const near = before[0]?.items.length && !part && !attribute &&
        Math.min(...before[0].items.map((one) => Math.abs(one - item))) <= NEAR;
      if (near && !before[0].items.includes(item)) return this.extend(name, [item, last]);
      return this.label(name, [click]);
    });
  }

  // Values of the embedded data, by their numbers.
  pickEmbedded(numbers) {
    const { page } = this.page;
    return this.turns.take(() => {
      if (page !== this.page.page) return null;
      const { name, many } = this.attribute;
      const clicks = numbers.map((embedded) => ({ embedded }));
      if (!many || numbers.length > 1) return this.label(name, clicks);
      const before = this.own(name);
      const same = before.find((mark) => mark.embedded.includes(numbers[0]));
      const kept = before.filter((mark) => mark !== same).map(clickOf);
      return this.label(name, same ? kept : [...kept, ...clicks], Boolean(same));
    }).catch(complain);
  }

  acceptAll() {
    return this.turns.take(() => (this.proposal ? this.label(this.proposal.attribute, this.proposal.clicks, true) : null));
  }

  decline() {
    this.declined.add(`${this.page.page}\n${this.proposal.attribute}`);
    this.proposal = null;
    this.draw();
    this.sendMarks();
  }

  // The following methods run inside `turns`.

  extend(name, items) {
    const marks = this.own(name);
    const all = [...marks.at(-1).items, ...items];
    const click = { item: Math.min(...all), last: Math.max(...all) };
    return this.label(name, [...marks.slice(0, -1).map(clickOf), click], true);
  }

  // `stay`: keep the active attribute.
  label(name, clicks, stay = false) {
    return this.send(put("labels", { site: this.site, page: this.page.page, attribute: name, clicks }), () => {
      this.extending = name;
      this.frame.order("leave");
      const many = this.session.attributes.find((one) => one.name === name)?.many;
      if (!stay && !(many && clicks?.length)) this.active = this.firstOpen(this.session.attributes.findIndex((one) => one.name === name));
    });
  }

  async send(request, then = () => {}) {
    this.parts.table.setAttribute("aria-busy", "true");
    try {
      const { change, session, marks, proposal } = await request;
      this.history.add(marks.page, change);
      const wasDone = this.session.done;
      this.proposal = proposal && !this.declined.has(`${marks.page}\n${proposal.attribute}`) ? proposal : null;
      this.take(session, marks, then);
      if (session.done && !wasDone) toast("Done: the rules extract from every sample page.");
    } catch (error) {
      complain(error);
    } finally {
      this.parts.table.setAttribute("aria-busy", "false");
      this.complete();
    }
  }

  // Counts completed requests: benchmarks and tests wait for it.
  complete() {
    this.root.dataset.completed = Number(this.root.dataset.completed) + 1;
  }

  // Actions of the person

  absent() {
    return this.turns.take(() => this.label(this.attribute.name, null));
  }

  clear(name) {
    return this.turns.take(() => this.label(name ?? this.attribute.name, [], true));
  }

  async accept() {
    await this.turns.take(() => {
      const open = this.session.attributes.filter((one) => !this.isLabeled(one.name));
      return open.some((one) => one.rule) ? this.send(post("labels/confirm", { site: this.site, page: this.page.page })) : null;
    });
    if (!this.session.done) await this.next();
  }

  undo() {
    return this.timeTravel(() => this.history.undo());
  }

  redo() {
    return this.timeTravel(() => this.history.redo());
  }

  async timeTravel(find) {
    const where = await this.turns.take(async () => {
      const step = find();
      if (!step) return toast("Nothing to undo or redo.");
      const { page, restore, remove, commit } = step;
      const { session, marks } = await post("labels/change", { site: this.site, page, restore, remove });
      commit();
      this.proposal = null;
      this.take(session, marks);
      return page;
    });
    if (where && where !== this.page.page) await this.turnTo(where);
    else if (where) this.complete();
  }

  save() {
    return this.turns.take(async () => {
      if (this.session.saved) return toast("The rules are saved already.");
      const { version } = await post("rules/save", { site: this.site });
      toast(`Rules saved as version ${version}.`);
      this.complete();
    });
  }

  async allowRemote(remote) {
    await put("settings", { remote }, { site: this.site });
    this.remote = remote;
    await this.turnTo(this.page.page);
  }

  // Keys

  key(event) {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || document.querySelector("dialog[open]");
    const acting = event.key === "Enter" && /^(BUTTON|A|SUMMARY)$/.test(event.target.tagName);
    if (typing || acting) return;
    if (this.press(event)) event.preventDefault();
  }

  press(event) {
    const [name, value] = action(event) ?? [];
    const actions = {
      choose: () => this.choose(value), step: () => this.step(value), next: () => this.next(), help,
      absent: () => this.absent(), clear: () => this.clear(), undo: () => this.undo(), redo: () => this.redo(),
      move: () => this.frame.order("move", { by: value }), leave: () => (this.proposal ? this.decline() : this.frame.order("leave")),
      all: () => this.acceptAll(), data: () => this.embedded.toggle(),
      find: () => this.parts.bar.querySelector("input").focus(), part: () => this.part(), save: () => this.save(),
      extend: () => this.frame.order("pick", { extend: true }),
      enter: () => (this.cursor ? this.frame.order("pick", { extend: false }) : this.accept()),
    };
    if (!actions[name] || !this.session) return false;
    Promise.resolve(actions[name]()).catch(complain);
    return true;
  }

  part() {
    const item = this.cursor?.item ?? this.own(this.attribute.name)[0]?.items[0];
    const text = item === undefined ? null : this.page.items[item]?.[1];
    if (typeof text !== "string" || this.page.items[item].length !== 2) return toast("Select a text first: press ↓ or /, or click one.");
    choosePart(text, (part) => this.labelPart(item, part));
  }

  labelPart(item, part) {
    return this.turns.take(() => this.label(this.attribute.name, [{ item, part }])).catch(complain);
  }

  // Drawing

  take(session, marks, then = () => {}) {
    this.session = session;
    if (marks.page === this.page.page) this.marks = marks;
    then();
    this.draw();
    this.sendMarks();
  }

  sendMode() {
    const { type, many } = this.attribute;
    this.frame.order("mode", { mode: type === "image" || type === "url" ? type : "text", hue: hue(this.active), many });
  }

  sendMarks() {
    const place = new Map(this.session.attributes.map((one, index) => [one.name, index]));
    this.sendMode();
    const color = (name) => hue(place.get(name) ?? 0);
    const proposed = (this.proposal?.clicks ?? []).filter((click) => click.item !== null)
      .map(({ item, last }) => ({ kind: "proposed", items: [item, last], hue: color(this.proposal.attribute) }));
    this.frame.order("marks", { marks: [...this.marks.marks.map((mark) => ({ ...mark, hue: color(mark.attribute), name: mark.attribute })), ...proposed] });
  }

  reveal(name) {
    const [mark] = [...this.own(name), ...this.own(name, "found")];
    if (mark) this.frame.order("reveal", { items: mark.items });
  }

  draw() {
    keepFocus(this.root, () => {
      this.drawBar();
      panel(this.parts.side, this);
      this.embedded.draw();
      recordsTable(this.parts.table, this);
    });
  }

  drawBar() {
    const rows = this.session.rows;
    const index = rows.findIndex((row) => row.page === this.page.page);
    const row = rows[index];
    const typing = this.parts.bar.querySelector("input");
    if (typing && document.activeElement === typing) {
      this.parts.bar.querySelector(".cursor").textContent = this.cursor?.text ?? "";
      return;
    }
    this.parts.bar.replaceChildren(...[
      button("‹", () => this.step(-1), { kind: "small", label: "Previous page", title: "Previous page (k)" }),
      h("span", { class: "small number soft" }, index >= 0 ? `${index + 1} of ${rows.length}` : "not in the sample"),
      button("›", () => this.step(1), { kind: "small", label: "Next page", title: "Next page (j)" }),
      h("span", { class: "grow cut small", title: this.page.url }, row?.title || this.page.page, h("span", { class: "soft" }, `  ${this.page.url}`)),
      h("span", { class: "cursor cut small soft", "aria-live": "polite" }, this.cursor?.text ?? ""),
      h("input", { type: "search", placeholder: "Find on the page", "aria-label": "Find a text on the page",
        oninput: (event) => this.frame.order("find", { text: event.target.value }),
        onkeydown: (event) => this.typed(event) }),
      this.embedded.total ? button(["Data ", h("span", { class: "tiny soft number" }, String(this.embedded.total)), " ", h("kbd", {}, "d")], () => this.embedded.toggle(), {
        kind: "small", label: "Embedded data", title: "What the page tells programs: values to click (d)", "aria-pressed": String(this.embedded.open) }) : null,
      h("label", { class: "switch", title: "Load images and style sheets from their web sites if they did not come with the pages" },
        h("input", { type: "checkbox", checked: this.page.remote, onchange: (event) => this.allowRemote(event.target.checked).catch(complain) }), "Remote images"),
      button("?", help, { kind: "small", label: "Keys" })].filter(Boolean));
  }

  typed(event) {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    const part = event.target.value.trim();
    const exactly = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && exactly && this.cursor) this.labelPart(this.cursor.item, part);
    else if (event.key === "Enter") this.frame.order("pick", { extend: event.shiftKey });
    event.target.value = "";
    event.target.blur();
    this.drawBar();
  }

  exportRecords() {
    go("export", { site: this.site });
  }
}

// A label that stays as it is.
function clickOf({ label }) {
  return { label };
}
