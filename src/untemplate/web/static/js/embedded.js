// The embedded data beside the page: what the page tells programs. A click on a value labels it like a text of the page.
import { get } from "./api.js";
import { badge, button, count, h, hue } from "./dom.js";
import { complain } from "./main.js";

const KEY = "embedded-data";
const WIDE = 1500; // pixels from which on there is room for the panel, unless the person closed it
const PAUSE = 150; // milliseconds without a key after which a search starts

export class EmbeddedPanel {
  constructor(root, view) {
    this.root = root;
    this.view = view;
    this.chosen = localStorage.getItem(KEY);
    this.data = null;
    this.buttons = new Map(); // by the number of the value
    this.body = h("div", { class: "scroll" });
    this.note = h("span", { class: "tiny soft number" });
    this.search = h("input", { type: "search", placeholder: "Find in the data", "aria-label": "Find in the embedded data",
      oninput: () => this.later(), onkeydown: (event) => { if (event.key === "Escape") event.target.blur(); } });
    root.replaceChildren(
      h("header", { class: "stack" },
        h("div", { class: "row spread" }, h("strong", { class: "small" }, "Embedded data"), this.note,
          button("×", () => this.toggle(), { kind: "quiet small", label: "Close the embedded data", title: "Close (d)" })),
        this.search),
      this.body);
  }

  get total() {
    return this.data?.total ?? 0;
  }

  get open() {
    return this.total > 0 && (this.chosen ? this.chosen === "open" : innerWidth >= WIDE);
  }

  toggle() {
    this.chosen = this.open ? "closed" : "open";
    localStorage.setItem(KEY, this.chosen);
    this.view.draw();
  }

  async load(site, page) {
    this.page = { site, page };
    this.data = null;
    this.search.value = "";
    await this.fetch();
  }

  later() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.fetch().catch(complain), PAUSE);
  }

  async fetch() {
    const asked = { ...this.page, find: this.search.value };
    const data = await get("embedded", asked);
    if (asked.page !== this.page.page || asked.find !== this.search.value) return;
    this.data = data;
    this.build();
    this.view.draw();
  }

  build() {
    const { objects, total, shown } = this.data;
    this.buttons.clear();
    this.note.textContent = shown < total ? `${shown} of ${count(total, "value")}` : count(total, "value");
    const searching = this.search.value.trim() !== "";
    const typed = objects.filter((one) => one.type);
    const fullest = Math.max(...(typed.length ? typed : objects).map(size));
    this.body.replaceChildren(...objects.map((one) => {
      return h("details", { class: "object", open: searching || (size(one) === fullest && Boolean(one.type) === typed.length > 0) },
        h("summary", {}, h("span", { class: "grow cut" }, h("strong", {}, one.type || (one.source === "meta" ? "Meta tags" : "Data")), " ", h("span", { class: "tiny soft" }, title(one))),
          badge(one.source), h("span", { class: "tiny soft number" }, String(size(one)))),
        one.paths.map((path) => this.path(one, path)),
        one.hidden ? h("p", { class: "path tiny soft" }, `${count(one.hidden, "more value")} at other paths: search to see them`) : null);
    }));
    if (!objects.length) this.body.append(h("p", { class: "empty small" }, searching ? "Nothing in the data has these words." : "This page has no embedded data."));
    this.body.scrollTop = 0;
    this.fresh = true;
  }

  path(one, { path, values, hidden }) {
    const where = `${one.source} ${one.type ? `${one.type}.` : ""}${path}`;
    return h("div", { class: "path" },
      h("div", { class: "row spread" }, h("code", { class: "cut", title: where }, path),
        values.length > 1 && !hidden ? button(`all ${values.length}`, () => this.view.pickEmbedded(values.map((value) => value.number)), {
          kind: "quiet small all", label: `Label all values of ${where}` }) : null),
      values.map(({ number, text }) => {
        const made = h("button", { type: "button", class: "datum", title: `${where}: ${text}`, "data-number": String(number),
          onclick: () => this.view.pickEmbedded([number]) }, text);
        this.buttons.set(number, made);
        return made;
      }),
      hidden ? h("p", { class: "tiny soft" }, `${count(hidden, "more value")}: search to see ${hidden === 1 ? "it" : "them"}`) : null);
  }

  // Colors the values that are labeled, found or proposed.
  draw() {
    const { view } = this;
    view.root.classList.toggle("with-data", this.open);
    this.root.hidden = !this.open;
    this.root.classList.toggle("many", Boolean(view.attribute?.many));
    for (const made of this.buttons.values()) {
      made.className = "datum";
      delete made.dataset.attribute;
    }
    const place = new Map(view.session.attributes.map((one, index) => [one.name, index]));
    const show = (number, kind, name) => {
      const made = this.buttons.get(number);
      if (!made || made.classList.contains("label")) return;
      made.className = `datum ${kind}`;
      made.style.setProperty("--hue", hue(place.get(name) ?? 0));
      made.dataset.attribute = name;
    };
    for (const mark of view.marks.marks) for (const number of mark.embedded) show(number, mark.kind, mark.attribute);
    for (const click of view.proposal?.clicks ?? []) if (click.embedded !== null) show(click.embedded, "proposed", view.proposal.attribute);
    if (!this.fresh) return;
    this.fresh = false; // later the person decides what is folded
    for (const made of this.body.querySelectorAll(".object:not([open])")) made.open = made.querySelector(".label") !== null;
  }
}

function size(one) {
  return one.paths.reduce((sum, path) => sum + path.values.length + path.hidden, one.hidden);
}

// What an object is called, to tell those of the same type apart.
function title(one) {
  return one.paths.find(({ path }) => path === "name" || path === "headline")?.values[0].text ?? "";
}
