// Annotate: the page, the attributes at its side, and the records of all sample pages, which change with every label.
import { action, belongsToControl, help, releaseFocus } from "../keys.js";
import { html, useEffect, useMemo, useRef } from "../lib.js";
import { Empty } from "../parts.js";
import { change, complain } from "../store.js";
import { PageBar } from "./bar.js";
import { EmbeddedPanel } from "./embedded.js";
import { toggleFlag } from "./flag.js";
import { Annotate } from "./labeling.js";
import { PartDialog } from "./part.js";
import { RecordsTable } from "./records.js";
import { SidePanel } from "./side.js";

export function AnnotateView({ site, cluster, page, isShown }) {
  if (!cluster) {
    return isShown ? html`<${Empty} title="No pages yet"><p>Add pages, or start with the sample site: it takes two minutes.</p>
      <p><a class="button primary" href="#/start">Add a site</a></p><//>` : null;
  }
  return html`<${Workplace} site=${site.site} cluster=${cluster.cluster} page=${page} isShown=${isShown} />`;
}

function Workplace({ site, cluster, page, isShown }) {
  const model = useMemo(() => new Annotate(site, cluster), []);
  const holder = useRef();
  useEffect(() => {
    model.attach(holder.current, (event) => press(model, event));
    model.start(page).catch(complain);
    const stop = change.subscribe(({ site: changed, number }) => { if (number) model.changed(changed, number); });
    return () => {
      stop();
      model.close();
    };
  }, []);
  useEffect(() => {
    if (isShown && page && model.heading.value && page !== model.heading.value) model.turnTo(page).catch(complain);
  }, [page, isShown]);
  useEffect(() => {
    if (!isShown) return undefined;
    const onkey = (event) => { if (!belongsToControl(event) && press(model, event)) event.preventDefault(); };
    document.addEventListener("keydown", onkey);
    return () => document.removeEventListener("keydown", onkey);
  }, [isShown]);
  const session = model.session.value;
  const isReady = session && model.page.value;
  return html`<div class=${`annotate${model.embedded.isOpen ? " with-data" : ""}`} hidden=${!isShown} onclick=${releaseFocus} data-completed=${String(model.completed.value)}>
    <div class="pagebar">${isReady ? html`<${PageBar} model=${model} />` : null}</div>
    ${session && !session.rows.length ? html`<div class="frame"><${Empty} title="No readable page"><p>The catalog has no readable page of this template.</p><//></div>` : null}
    <div class="frame" ref=${holder} hidden=${session && !session.rows.length} aria-busy=${String(model.isLoading.value)}></div>
    <aside class="data" aria-label="Embedded data" hidden=${!model.embedded.isOpen}>${isReady ? html`<${EmbeddedPanel} model=${model} />` : null}</aside>
    <aside class="side" aria-label="Attributes">${isReady ? html`<${SidePanel} model=${model} />` : null}</aside>
    <section class="records" aria-label="Records of the sample pages" aria-busy=${String(model.isBusy.value)}>${isReady ? html`<${RecordsTable} model=${model} />` : null}</section>
    ${model.part.value ? html`<${PartDialog} model=${model} />` : null}</div>`;
}

// Does what a key means; false if it means nothing.
function press(model, event) {
  const [name, value] = action(event) ?? [];
  const actions = {
    choose: () => model.choose(value), turn: () => model.turn(value), step: () => model.step(value), next: () => model.next(), help,
    absent: () => model.absent(), clear: () => model.clear(), undo: () => model.travel(true), redo: () => model.travel(false),
    move: () => model.frame.order("move", { by: value }), leave: () => (model.proposal.value ? model.decline() : model.frame.order("leave")),
    all: () => model.acceptAll(), whole: () => model.acceptWhole(), data: () => model.embedded.toggle(), main: () => model.frame.order("main"),
    find: () => document.querySelector(".annotate .pagebar input[type=search]").focus(), part: () => model.choosePart(), save: () => model.save(),
    flag: () => toggleFlag(model),
    extend: () => model.frame.order("pick", { extend: true }),
    enter: () => (model.cursor.value ? model.frame.order("pick", { extend: false }) : model.accept()),
  };
  if (!actions[name] || !model.page.value) return false;
  Promise.resolve(actions[name]()).catch(complain);
  return true;
}
