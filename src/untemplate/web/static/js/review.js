// Review: doubtful values one by one, each on its page. A key accepts the value, a click corrects it.
import { get } from "./api.js";
import { FrameLink, pickMode } from "./framelink.js";
import { action, belongsToControl, releaseFocus } from "./keys.js";
import { clicksAfter, labelDesk, without } from "./labels.js";
import { batch, html, signal, useEffect, useMemo, useRef } from "./lib.js";
import { ListReview } from "./listreview.js";
import { Badge, Button, count, Empty, hue, percent, useAnswer } from "./parts.js";
import { address, complain, say } from "./store.js";

export function ReviewView({ site, cluster }) {
  if (!cluster) return html`<${Empty} title="Nothing to review yet"><p>Review shows values that the rules are not sure about. <a href="#/start">Add a site</a> first.</p><//>`;
  if (!cluster.attributes.some((one) => one.share !== null) && !cluster.labeled) {
    return html`<${Empty} title="No rules yet"><p>Label a page of this template first; then the rules say what they are not sure about.</p>
      <p><a class="button primary" href=${address("annotate", { site: site.site, cluster: cluster.cluster })}>Label a page</a></p><//>`;
  }
  return html`<${Reviewed} key=${`${site.site} ${cluster.cluster} ${site.version}`} site=${site.site} cluster=${cluster.cluster} />`;
}

// The rows of list pages, or the values of others.
function Reviewed({ site, cluster }) {
  const rows = useAnswer(() => get("review/rows", { site, cluster }), [site, cluster]);
  if (!rows) return html`<p class="column soft small">Looking for doubtful values …</p>`;
  return rows.is_list ? html`<${ListReview} site=${site} cluster=${cluster} review=${rows} />` : html`<${Desk} site=${site} cluster=${cluster} />`;
}

class Review {
  constructor(site, cluster) {
    this.site = site;
    this.cluster = cluster;
    this.desk = labelDesk(site, cluster);
    this.attributes = [];
    this.review = signal(null);
    this.index = signal(0);
    this.marks = signal([]); // of the doubtful attribute on the page shown
    this.isLoading = signal(true);
    this.isEdited = signal(false); // whether a list was corrected, but not completed yet
    this.cursor = null;
    this.shown = null;
  }

  attach(holder) {
    this.frame = new FrameLink(holder, {
      pick: (picked) => this.correct(picked), key: (event) => this.press(event), cursor: ({ text }) => { this.cursor = text; },
    });
  }

  // `page`: the page of which to show a doubtful value first.
  async load(page = null) {
    const where = { site: this.site, cluster: this.cluster };
    const [session, review] = await Promise.all([get("session", where), get("review", where)]);
    this.attributes = session.attributes;
    batch(() => {
      this.review.value = review;
      this.index.value = Math.max(review.doubts.findIndex((one) => one.page === page), 0);
    });
    await this.show();
  }

  get doubt() {
    return this.review.value?.doubts[this.index.value];
  }

  get attribute() {
    return this.attributes.find((one) => one.name === this.doubt.attribute);
  }

  hueOf(name) {
    return hue(this.attributes.findIndex((one) => one.name === name));
  }

  async show() {
    const { doubt } = this;
    this.isEdited.value = false;
    if (!doubt) return;
    const where = { site: this.site, page: doubt.page };
    this.isLoading.value = true;
    if (this.shown !== doubt.page) {
      const page = await get("page", where);
      if (doubt !== this.doubt) return;
      this.shown = doubt.page;
      await this.frame.load(this.site, page);
    }
    const marks = await get("marks", where);
    if (doubt !== this.doubt) return;
    this.showMarks(marks);
    if (this.marks.value.length) this.frame.order("reveal", { items: this.marks.value[0].items });
    this.isLoading.value = false;
  }

  showMarks({ marks }) {
    const color = this.hueOf(this.doubt.attribute);
    this.marks.value = marks.filter((mark) => mark.attribute === this.doubt.attribute);
    this.frame.order("mode", { mode: pickMode(this.attribute), hue: color, many: this.attribute.many, name: this.attribute.name });
    this.frame.order("marks", { marks: this.marks.value.map((mark) => ({ ...mark, hue: color, name: mark.attribute })) });
  }

  choose(index) {
    if (!this.review.value.doubts[index]) return null;
    this.index.value = index;
    return this.show();
  }

  // `change` gets the doubt and changes its labels. Keys pressed in quick succession apply to one doubt after the other.
  settle(change) {
    return this.desk.take(async () => {
      const { doubt } = this;
      if (!doubt) return;
      await change(doubt);
      const left = this.review.value.doubts.filter((one) => one !== doubt);
      batch(() => {
        this.review.value = { ...this.review.value, doubts: left };
        this.index.value = Math.min(this.index.value, Math.max(left.length - 1, 0));
      });
      (left.length ? this.show() : this.load()).catch(complain);
    }).catch(complain);
  }

  accept() {
    const isEdited = this.isEdited.value;
    return this.settle(({ page, attribute }) => (isEdited ? null : this.desk.confirm(page, [attribute])));
  }

  absent() {
    return this.settle(({ page, attribute }) => this.desk.set(page, attribute, null));
  }

  correct(picked) {
    const clicked = this.doubt;
    if (clicked?.page !== this.shown) return null; // another page is about to be shown
    const { many, name } = this.attribute;
    if (many) return this.edit(() => clicksAfter(picked, this.marks.value, true).clicks);
    return this.settle(async (doubt) => {
      if (doubt !== clicked) throw new Error("That was another value's page; click again.");
      const { marks } = await this.desk.set(doubt.page, name, clicksAfter(picked, [], false).clicks);
      const [value] = marks.marks.filter((mark) => mark.attribute === name);
      say(`${name} is “${value?.text}”. u takes it back.`);
    });
  }

  // A list is corrected value by value, and completed by Enter.
  edit(makeClicks) {
    return this.desk.take(async () => {
      const { page, attribute } = this.doubt;
      const { marks } = await this.desk.set(page, attribute, makeClicks());
      this.isEdited.value = true;
      this.showMarks(marks);
    }).catch(complain);
  }

  remove(mark) {
    return this.edit(() => without(this.marks.value, mark));
  }

  travel(back) {
    return this.desk.take(async () => {
      const answer = await this.desk.travel(back);
      if (!answer) return say(back ? "Nothing to undo." : "Nothing to redo.");
      this.load(answer.marks.page).catch(complain);
    }).catch(complain);
  }

  press(event) {
    const [name, value] = event.key === "a" ? ["enter"] : action(event) ?? [];
    const actions = {
      absent: () => this.absent(), step: () => this.choose(this.index.value + value), undo: () => this.travel(true), redo: () => this.travel(false),
      enter: () => (this.cursor ? this.frame.order("pick", { extend: false }) : this.accept()), extend: () => this.frame.order("pick", { extend: true }),
      move: () => this.frame.order("move", { by: value }), leave: () => this.frame.order("leave"), main: () => this.frame.order("main"),
    };
    if (!actions[name] || !this.review.value) return false;
    Promise.resolve(actions[name]()).catch(complain);
    return true;
  }
}

function Desk({ site, cluster }) {
  const model = useMemo(() => new Review(site, cluster), []);
  const holder = useRef();
  useEffect(() => {
    model.attach(holder.current);
    model.load().catch(complain);
    const isShown = (event) => event.target.matches("[aria-current]"); // Enter on the chosen value accepts it
    const onkey = (event) => { if ((isShown(event) || !belongsToControl(event)) && model.press(event)) event.preventDefault(); };
    document.addEventListener("keydown", onkey);
    return () => {
      document.removeEventListener("keydown", onkey);
      model.frame.close();
    };
  }, []);
  const review = model.review.value;
  const isEmpty = review && !review.doubts.length;
  return html`<div class="review" onclick=${releaseFocus}>
    <aside class="side doubts" aria-label="To review">${review ? html`<${Doubts} model=${model} />` : null}</aside>
    <div class="pagebar">${review ? html`<${DoubtBar} model=${model} />` : html`<span class="soft small">Looking for doubtful values …</span>`}</div>
    ${isEmpty ? html`<div class="frame"><${Empty} title="Nothing to review"><p>The rules are sure about ${count(review.pages, "page")} of ${cluster}.</p>
      <p><a class="button" href=${address("export", { site })}>Export the records</a></p><//></div>` : null}
    <div class="frame" ref=${holder} hidden=${isEmpty} aria-busy=${String(model.isLoading.value)}></div></div>`;
}

function Doubts({ model }) {
  const { doubts, pages } = model.review.value;
  return html`<div class="stack" tabindex="0" role="region" aria-label="Doubtful values"><p class="small soft">${count(doubts.length, "doubtful value")} on ${count(pages, "page")}</p>
    <ol class="plain">${doubts.map((one, index) => html`<li key=${`${one.page} ${one.attribute}`}>
      <button type="button" class="doubt" aria-current=${index === model.index.value ? "true" : null} style=${{ "--hue": model.hueOf(one.attribute) }} onclick=${() => model.choose(index).catch(complain)}>
        <span class="row"><strong>${one.attribute}</strong><span class="tiny soft number">${percent(one.confidence)} sure</span></span>
        <span class="cut">${one.texts.join(" · ") || "nothing found"}</span><span class="tiny soft">${one.reason}</span></button></li>`)}</ol></div>
    <footer class="row"><${Button} label="Undo" title="Undo (u)" disabled=${!model.desk.history.value.done.length} onclick=${() => model.travel(true)}>↶<//>
      <${Button} label="Redo" title="Redo (r)" disabled=${!model.desk.history.value.undone.length} onclick=${() => model.travel(false)}>↷<//></footer>`;
}

function DoubtBar({ model }) {
  const { doubt, attribute } = model.doubt ? model : {};
  if (!doubt) return html`<span class="soft small">All is reviewed.</span>`;
  const texts = model.isEdited.value ? model.marks.value.map((mark) => mark.text) : doubt.texts;
  return html`
    <span class="grow"><strong>${doubt.attribute}</strong>: ${attribute.many && model.marks.value.length
      ? model.marks.value.map((mark) => html`<span class="value tint" style=${{ "--hue": model.hueOf(doubt.attribute) }}>${mark.text}<button type="button" class="remove" aria-label=${`Remove ${mark.text}`} onclick=${() => model.remove(mark)}>×</button></span> `)
      : texts.join(" · ") || "nothing found"} <${Badge} kind="warn">${doubt.reason}<//>
      ${doubt.others.length ? html`<span class="small soft">  other candidates: ${doubt.others.slice(0, 3).join(" · ")}</span>` : null}</span>
    <${Button} keys="x" onclick=${() => model.absent()}>Not here<//>
    <${Button} kind="primary" keys="⏎" onclick=${() => model.accept()}>${model.isEdited.value ? "Done" : doubt.texts.length ? "Correct" : "Correctly missing"}<//>
    <span class="tiny soft">${attribute.many ? "or click values on the page to add or remove them" : "or click the correct value"}</span>`;
}
