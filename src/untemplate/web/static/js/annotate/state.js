// What Annotate shows: a page, its marks, the session of its template, and the active attribute. `labeling.js` adds what changes labels.
import { get, put } from "../api.js";
import { FrameLink, pickMode } from "../framelink.js";
import { labelDesk } from "../labels.js";
import { batch, signal } from "../lib.js";
import { hue } from "../parts.js";
import { address, complain, say } from "../store.js";
import { EmbeddedData } from "./embedded.js";

const CATCH_UP = 120; // milliseconds to wait for further changes of other windows

export class AnnotateState {
  constructor(site, cluster) {
    this.site = site;
    this.cluster = cluster;
    this.desk = labelDesk(site, cluster);
    this.session = signal(null);
    this.page = signal(null); // the page shown
    this.heading = signal(null); // the page asked for last
    this.marks = signal({ marks: [], absent: [] });
    this.active = signal(0);
    this.proposal = signal(null); // all places like the last two that were labeled
    this.cursor = signal(null); // the text that the keyboard is at
    this.nothingFound = signal(false); // whether the last search found nothing
    this.part = signal(null); // the text of which a part is chosen
    this.isBusy = signal(false);
    this.isLoading = signal(true);
    this.completed = signal(0); // completed requests: benchmarks and tests wait for it
    this.embedded = new EmbeddedData(this);
    this.declined = new Set(); // pages and attributes for which the person wants no proposal
    this.extending = null;
  }

  attach(holder, press) {
    this.frame = new FrameLink(holder, {
      pick: (picked) => this.pick(picked).catch(complain),
      key: press,
      cursor: ({ text, item }) => { this.cursor.value = text ? { text, item } : null; },
      found: ({ found }) => { this.nothingFound.value = !found; },
    });
  }

  close() {
    clearTimeout(this.later);
    this.frame.close();
  }

  async start(page) {
    this.session.value = await get("session", { site: this.site, cluster: this.cluster });
    const { rows, next } = this.session.value;
    if (!rows.length) {
      this.isLoading.value = false;
      return;
    }
    try {
      await this.turnTo(page ?? next ?? rows[0].page);
    } catch (error) {
      complain(error); // an old address may name a page that is not in the catalog any more
      await this.turnTo(next ?? rows[0].page);
    }
  }

  changed(site, number) {
    if (site !== null && site !== this.site) return;
    this.heard = number; // the latest change of the site, including our own
    clearTimeout(this.later);
    this.later = setTimeout(() => this.refresh().catch(complain), CATCH_UP);
  }

  // Show what other windows changed. If one of our own requests came in between, ask again.
  async refresh() {
    if (!this.page.value) return;
    if (this.desk.busy) return this.changed(this.site, this.heard);
    if (this.heard <= this.session.value.changes) return;
    const before = this.desk.passed;
    const [session, marks] = await Promise.all([
      get("session", { site: this.site, cluster: this.cluster }), get("marks", { site: this.site, page: this.page.value.page })]);
    if (this.desk.busy || this.desk.passed !== before) return this.changed(this.site, this.heard);
    this.show(session, marks);
  }

  // Reads everything again, because the attributes have changed.
  async reload() {
    await this.desk.take(async () => {
      const { page } = this.page.value;
      const [session, marks] = await Promise.all([get("session", { site: this.site, cluster: this.cluster }), get("marks", { site: this.site, page })]);
      this.show(session, marks, () => { this.active.value = Math.min(this.active.value, session.attributes.length - 1); });
    });
    this.complete();
  }

  // The note of a page that was left aside; null if it was not.
  get flagNote() {
    return this.session.value.rows.find((row) => row.page === this.page.value.page)?.flag ?? null;
  }

  // Pages

  async turnTo(id, attribute = null) {
    this.heading.value = id;
    this.isLoading.value = true;
    try {
      const loaded = await this.desk.take(() => this.swap(id));
      if (!loaded) return; // another page was requested in the meantime
      await loaded.shown;
      this.sendMarks();
      const [first] = attribute ? this.valuesOf(attribute) : this.marks.value.marks;
      if (first) this.frame.order("reveal", { items: first.items });
      else if (this.page.value.plain) this.frame.order("main");
      this.complete();
    } finally {
      if (this.heading.value === id) this.isLoading.value = false;
    }
  }

  async swap(id) {
    if (this.heading.value !== id) return null;
    const [page, marks] = await Promise.all([get("page", { site: this.site, page: id }), get("marks", { site: this.site, page: id })]);
    if (this.heading.value !== id) return null;
    history.replaceState(null, "", address("annotate", { site: this.site, cluster: this.cluster, page: id }));
    batch(() => {
      this.page.value = page;
      this.marks.value = marks;
      this.cursor.value = null;
      this.nothingFound.value = false;
      this.proposal.value = null;
      this.extending = null;
      this.active.value = this.firstOpen();
    });
    this.embedded.load(this.site, id).catch(complain);
    return { shown: this.frame.load(this.site, page) };
  }

  step(by) {
    const { rows } = this.session.value;
    const index = rows.findIndex((row) => row.page === this.heading.value);
    const row = rows[(index + by + rows.length) % rows.length];
    return row.page === this.heading.value ? null : this.turnTo(row.page);
  }

  async next() {
    await this.desk.take(() => {});
    const { next } = this.session.value;
    if (!next) return say("All sample pages are labeled.");
    if (next === this.page.value.page) return say(this.whyThisPage());
    return this.turnTo(next);
  }

  whyThisPage() {
    const missing = this.session.value.attributes.filter((one) => one.mandatory && !this.isLabeled(one.name) && !this.valuesOf(one.name).length);
    if (!missing.length) return "This is the page that the rules are least sure about.";
    return `${missing.map((one) => one.name).join(", ")} was not found on this page: click it, or press x if the page does not have it.`;
  }

  // Attributes

  get attribute() {
    return this.session.value.attributes[this.active.value];
  }

  attributeNamed(name) {
    return this.session.value.attributes.find((one) => one.name === name);
  }

  choose(index) {
    return this.desk.take(() => {
      if (!this.session.value.attributes[index]) return;
      this.active.value = index;
      this.sendMode();
    });
  }

  turn(by) {
    const { length } = this.session.value.attributes;
    return this.choose((this.active.value + by + length) % length);
  }

  own(name, kind = "label") {
    return this.marks.value.marks.filter((mark) => mark.attribute === name && mark.kind === kind);
  }

  // The labels of an attribute on this page, or else what its rule finds.
  valuesOf(name) {
    const labels = this.own(name);
    return labels.length ? labels : this.own(name, "found");
  }

  isLabeled(name) {
    return this.marks.value.absent.includes(name) || this.own(name).length > 0;
  }

  // The first attribute without a label and a found value, or else the first one without a label.
  firstOpen(after = -1) {
    const names = this.session.value.attributes.map((one) => one.name);
    const order = [...names.slice(after + 1), ...names.slice(0, after + 1)];
    const empty = order.find((name) => !this.isLabeled(name) && !this.own(name, "found").length);
    const chosen = empty ?? order.find((name) => !this.isLabeled(name)) ?? names[Math.max(after, 0)];
    return names.indexOf(chosen);
  }

  async allowRemote(remote) {
    await put("settings", { remote }, { site: this.site });
    await this.turnTo(this.page.value.page);
  }

  complete() {
    this.completed.value += 1;
  }

  // What the page shows

  show(session, marks, then = () => {}) {
    batch(() => {
      this.session.value = session;
      if (marks.page === this.page.value.page) this.marks.value = marks;
      then();
    });
    this.sendMarks();
  }

  sendMode() {
    const { name, many } = this.attribute;
    this.frame.order("mode", { mode: pickMode(this.attribute), hue: hue(this.active.value), many, name });
  }

  sendMarks() {
    const places = new Map(this.session.value.attributes.map((one, index) => [one.name, index]));
    this.sendMode();
    const color = (name) => hue(places.get(name) ?? 0);
    const { attribute, clicks = [], whole = [] } = this.proposal.value ?? {};
    const boxes = (kind, list) => list.filter((click) => click.item !== null).map(({ item, last }) => ({ kind, items: [item, last ?? item], hue: color(attribute) }));
    const proposed = [...boxes("proposed", clicks), ...boxes("whole", whole)];
    this.frame.order("marks", { marks: [...this.marks.value.marks.map((mark) => ({ ...mark, hue: color(mark.attribute), name: mark.attribute })), ...proposed] });
  }

  reveal(name) {
    const [mark] = this.valuesOf(name);
    if (mark) this.frame.order("reveal", { items: mark.items });
  }
}
