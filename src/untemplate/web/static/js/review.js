// Review: doubtful values one by one, each on its page. A key accepts the value, a click corrects it.
import { get, post, put } from "./api.js";
import { badge, button, count, h, hue, toast } from "./dom.js";
import { FrameLink } from "./framelink.js";
import { complain } from "./main.js";
import { Turns } from "./turns.js";

export async function open(outlet, context) {
  const view = new Review(outlet, context);
  await view.load();
  return view;
}

class Review {
  constructor(outlet, { site, cluster }) {
    this.site = site?.site;
    this.cluster = cluster?.cluster;
    this.attributes = cluster?.attributes.map((one) => one.attribute) ?? [];
    this.index = 0;
    this.turns = new Turns();
    this.parts = { list: h("aside", { class: "side doubts", "aria-label": "To review" }), frame: h("div", { class: "frame" }), bar: h("div", { class: "pagebar" }) };
    outlet.replaceChildren(h("div", { class: "review" }, this.parts.list, this.parts.bar, this.parts.frame));
    this.frame = new FrameLink(this.parts.frame, {
      pick: (picked) => this.correct(picked), key: (event) => this.press(event), cursor: ({ text }) => { this.cursor = text; },
    });
    this.onkey = (event) => {
      if (!/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && !(event.key === "Enter" && event.target.tagName === "BUTTON") && this.press(event)) event.preventDefault();
    };
    document.addEventListener("keydown", this.onkey);
  }

  close() {
    document.removeEventListener("keydown", this.onkey);
    this.frame.close();
  }

  async load() {
    if (!this.cluster) return;
    this.parts.bar.replaceChildren(h("span", { class: "soft small" }, "Looking for doubtful values …"));
    this.review = await get("review", { site: this.site, cluster: this.cluster });
    this.index = 0;
    await this.show();
  }

  get doubt() {
    return this.review.doubts[this.index];
  }

  async show() {
    this.draw();
    const doubt = this.doubt;
    if (!doubt) {
      this.frame.close();
      this.parts.frame.replaceChildren(h("div", { class: "empty" }, h("h2", {}, "Nothing to review"),
        h("p", {}, `The rules are sure about ${count(this.review.pages, "page")} of ${this.cluster}.`)));
      return;
    }
    const ask = { site: this.site, page: doubt.page };
    this.parts.frame.setAttribute("aria-busy", "true");
    if (this.shown !== doubt.page) {
      const page = await get("page", ask);
      if (doubt !== this.doubt) return;
      this.shown = doubt.page;
      await this.frame.load(this.site, page);
    }
    const { marks } = await get("marks", ask);
    if (doubt !== this.doubt) return;
    const own = marks.filter((mark) => mark.attribute === doubt.attribute);
    const color = hue(this.attributes.indexOf(doubt.attribute));
    this.frame.order("mode", { mode: "text", hue: color });
    this.frame.order("marks", { marks: own.map((mark) => ({ ...mark, hue: color, name: mark.attribute })) });
    if (own.length) this.frame.order("reveal", { items: own[0].items });
    this.parts.frame.setAttribute("aria-busy", "false");
  }

  // `ask` gets the doubt and its page. Keys pressed in quick succession apply to one doubt after the other.
  settle(ask) {
    return this.turns.take(async () => {
      const { doubt } = this;
      if (!doubt) return;
      await ask(doubt, { site: this.site, page: doubt.page });
      this.review.doubts.splice(this.index, 1);
      this.index = Math.min(this.index, Math.max(this.review.doubts.length - 1, 0));
      (this.review.doubts.length ? this.show() : this.load()).catch(complain);
    }).catch(complain);
  }

  accept() {
    return this.settle(({ attribute }, target) => post("labels/confirm", { ...target, attributes: [attribute] }));
  }

  absent() {
    return this.settle(({ attribute }, target) => put("labels", { ...target, attribute, clicks: null }));
  }

  correct({ item, last, attribute, part }) {
    const clicked = this.doubt;
    if (clicked?.page !== this.shown) return null; // another page is about to be shown
    return this.settle(async (doubt, target) => {
      if (doubt !== clicked) throw new Error("That was another value's page; click again.");
      await put("labels", { ...target, attribute: doubt.attribute, clicks: [{ item, last, attribute, part }] });
      toast(`${doubt.attribute} corrected.`);
    });
  }

  step(by) {
    const index = this.index + by;
    if (!this.review.doubts[index]) return;
    this.index = index;
    return this.show();
  }

  press({ key, ctrlKey, metaKey, altKey, shiftKey }) {
    if (ctrlKey || metaKey || altKey || !this.review?.doubts.length) return false;
    const actions = {
      a: () => this.accept(), x: () => this.absent(), j: () => this.step(1), k: () => this.step(-1),
      Enter: () => (this.cursor ? this.frame.order("pick", { extend: shiftKey }) : this.accept()),
      ArrowDown: () => this.frame.order("move", { by: 1 }), ArrowUp: () => this.frame.order("move", { by: -1 }), Escape: () => this.frame.order("leave"),
    };
    if (!actions[key]) return false;
    Promise.resolve(actions[key]()).catch(complain);
    return true;
  }

  draw() {
    const { doubts, pages } = this.review;
    const doubt = this.doubt;
    this.parts.list.replaceChildren(
      h("div", { class: "stack" },
        h("p", { class: "small soft" }, `${count(doubts.length, "doubtful value")} on ${count(pages, "page")}`),
        h("ol", { class: "plain" }, doubts.map((one, index) => h("li", {},
          h("button", { type: "button", class: "doubt", "aria-current": index === this.index ? "true" : null, style: { "--hue": hue(this.attributes.indexOf(one.attribute)) },
            onclick: () => { this.index = index; this.show().catch(complain); } },
            h("span", { class: "row" }, h("span", { class: "dot", "aria-hidden": "true" }), h("strong", {}, one.attribute), h("span", { class: "tiny soft number" }, `${Math.round(one.confidence * 100)}%`)),
            h("span", { class: "cut" }, one.texts.join(" · ") || "nothing found"), h("span", { class: "tiny soft" }, one.reason)))))));
    this.parts.bar.replaceChildren(...(doubt ? [
      h("span", { class: "grow" }, h("strong", {}, doubt.attribute), ": ", doubt.texts.join(" · ") || "nothing found", " ", badge(doubt.reason, "warn"),
        doubt.others.length ? h("span", { class: "small soft" }, `  other candidates: ${doubt.others.slice(0, 3).join(" · ")}`) : null),
      button(["Not here ", h("kbd", {}, "x")], () => this.absent()),
      button([doubt.texts.length ? "Correct " : "Correctly missing ", h("kbd", {}, "⏎")], () => this.accept(), { kind: "primary" }),
      h("span", { class: "tiny soft" }, "or click the correct value")] : []));
  }
}
