// The attributes at the side: for each, the labeled or found values on this page, and the rule in words.
import { html, useEffect, useRef } from "../lib.js";
import { Badge, Button, count, hue, when, Words } from "../parts.js";
import { editSchema } from "../schema.js";
import { complain, go } from "../store.js";
import { cleanUp } from "./cleanup.js";

const NOTES = { labeled: "labeled", absent: "not on this page", found: "found by the rule", doubtful: "found, but doubtful", missing: "not found", open: "" };

export function SidePanel({ model }) {
  const { attributes } = model.session.value;
  const { done, undone } = model.desk.history.value;
  const values = model.toConfirm.length;
  const travel = (back) => model.travel(back).catch(complain);
  const scrolled = useRef();
  const isNews = model.session.value.done || Boolean(model.proposal.value);
  useEffect(() => { if (isNews) scrolled.current.scrollTop = 0; }, [isNews]); // what is new is at the top
  return html`
    <div class="stack" ref=${scrolled}><${Status} model=${model} />
      <ol class="chips">${attributes.map((attribute, index) => html`<li key=${attribute.name}><${Chip} model=${model} attribute=${attribute} index=${index} /></li>`)}</ol>
      <${Button} kind="quiet small" title="Add, rename, describe or remove attributes, or change their types" onclick=${() => editSchema(model.site, () => model.reload().catch(complain))}>Edit attributes<//></div>
    <footer class="row">
      <${Button} label="Undo" title="Undo (u)" disabled=${!done.length} onclick=${() => travel(true)}>↶<//>
      <${Button} label="Redo" title="Redo (r)" disabled=${!undone.length} onclick=${() => travel(false)}>↷<//>
      <${Button} title="The active attribute is not on this page" keys="x" onclick=${() => model.absent()}>Not here<//>
      <${Button} kind="primary" disabled=${!attributes.some((one) => one.rule)} title=${confirmTitle(model)} keys="⏎" onclick=${() => model.accept().catch(complain)}>${values ? `Confirm ${values}` : "Go on"}<//></footer>`;
}

function confirmTitle(model) {
  const names = model.toConfirm.map((one) => one.name).join(", ");
  return names ? `These values are right: ${names}. What was not found stays without a label. Then go to the next page.` : "Go to the page that the rules are least sure about";
}

function Status({ model }) {
  const session = model.session.value;
  if (model.proposal.value) return html`<${Proposal} model=${model} />`;
  const labeled = session.rows.filter((row) => row.labeled).length;
  if (session.done) {
    const { unlearned } = session;
    return html`<div class=${`notice done ${unlearned.length ? "warn" : "good"}`}>
      <div class="grow"><strong>${unlearned.length ? "Done, in part." : "Done."}</strong>${` The rules extract from all ${session.rows.length - labeled} remaining sample pages.`}
        ${unlearned.length ? ` No rule fits the labels of ${unlearned.join(", ")}: it stays empty.` : null}</div>
      ${session.saved ? html`<${Badge} kind="good">saved<//>` : html`<${Button} kind="primary" keys="s" onclick=${() => model.save()}>Save rules<//>`}
      <${Button} onclick=${() => go("export", { site: model.site })}>Export records<//></div>`;
  }
  const isElsewhere = session.next && session.next !== model.page.value.page;
  return html`<div class="notice todo"><div class="grow small">${labeled ? html`<${Remaining} model=${model} />` : "Click each value on the page; the records below fill in as you go."}</div>
    ${isElsewhere && labeled ? html`<${Button} kind="small" keys="n" onclick=${() => model.next().catch(complain)}>Next page<//>` : null}</div>`;
}

// Why labeling is not done yet, in words.
function Remaining({ model }) {
  const { remaining } = model.session.value;
  if (!remaining.length) return "Go on with the next page.";
  return html`<strong>Still to do:</strong><ul class="remaining">${remaining.map(({ attribute, reason, pages, page }) => html`
    <li key=${`${attribute} ${reason}`}><button type="button" class="link" onclick=${() => openProblem(model, attribute, page)}>${attribute}</button>${` ${reason}${pages ? ` on ${count(pages, "page")}` : ""}`}</li>`)}</ul>`;
}

async function openProblem(model, attribute, page) {
  try {
    if (page && page !== model.page.value.page) await model.turnTo(page);
    await model.choose(model.session.value.attributes.findIndex((one) => one.name === attribute));
    model.reveal(attribute);
  } catch (error) {
    complain(error);
  }
}

function Proposal({ model }) {
  const { attribute, clicks, whole } = model.proposal.value;
  return html`<div class="notice proposal" role="status">
    <div class="grow small">Are all of these <strong>${attribute}</strong>?</div>
    ${clicks.length ? html`<${Button} kind="primary small" keys="a" title="Label all that are like the two you clicked" onclick=${() => model.acceptAll()}>${`All ${clicks.length}`}<//>` : null}
    ${whole.length ? html`<${Button} kind=${clicks.length ? "small" : "primary small"} keys="w" title="Label the whole items, with all their texts" onclick=${() => model.acceptWhole()}>${`${whole.length} whole items`}<//>` : null}
    <${Button} kind="small" keys="Esc" title="Keep only what you clicked" onclick=${() => model.decline()}>No<//></div>`;
}

function Chip({ model, attribute, index }) {
  const { name } = attribute;
  const labels = model.own(name);
  const values = model.valuesOf(name);
  const isAbsent = model.marks.value.absent.includes(name);
  const isActive = index === model.active.value;
  const state = stateOf(attribute, labels, values, isAbsent);
  const choose = () => {
    model.choose(index);
    model.reveal(name);
  };
  return html`<div class=${`chip ${state}${isActive ? " active" : ""}`} style=${{ "--hue": hue(index) }}>
    <button type="button" class="name" aria-pressed=${String(isActive)} aria-keyshortcuts=${index < 9 ? String(index + 1) : null} onclick=${choose}>
      <span class="grow cut" title=${attribute.description || null}>${name}${attribute.mandatory ? html`<span class="soft" title="mandatory"> *</span>` : null}</span>
      ${attribute.many ? html`<span class="tiny soft" title="This attribute has several values: click them one after the other">several</span>` : null}
      ${index < 9 ? html`<kbd>${index + 1}</kbd>` : null}</button>
    <div class="values">
      ${values.map((mark, place) => html`<${ChipValue} key=${`${place} ${mark.text}`} model=${model} name=${name} mark=${mark} canRemove=${attribute.many && values.length > 1} />`)}
      <div class="row spread tiny soft"><span>${state === "labeled" ? labeledNote(labels) : NOTES[state]}</span><${ChipAction} model=${model} name=${name} state=${state} isActive=${isActive} /></div></div>
    ${isActive && attribute.description ? html`<p class="rule tiny soft">${attribute.description}</p>` : null}
    ${isActive && attribute.many ? html`<p class="rule tiny soft">${labels.length ? "Click further values; → goes on to the next attribute." : "Several values: click two of a list, then a takes all."}</p>` : null}
    ${isActive && attribute.rule ? html`<p class="rule tiny soft">Rule: <${Words} text=${attribute.rule} /></p>` : null}
    ${attribute.problems.map((problem) => html`<p key=${problem} class="rule tiny problem">${problem}</p>`)}</div>`;
}

function stateOf(attribute, labels, values, isAbsent) {
  if (labels.length) return "labeled";
  if (isAbsent) return "absent";
  if (values.length) return values.some((mark) => mark.confidence <= 0.5) ? "doubtful" : "found";
  return attribute.rule ? "missing" : "open";
}

function labeledNote(labels) {
  const [{ by, at }] = labels;
  return html`<span title=${at ? when(at) : null}>${by ? `labeled by ${by}` : "labeled"}</span>`;
}

function ChipAction({ model, name, state, isActive }) {
  if (state === "labeled") {
    return html`<span class="row nowrap">${isActive ? html`<${Button} kind="quiet small" label=${`Clean up ${name}`} title="Cut all values in the same way, with a preview" onclick=${() => cleanUp(model, name)}>Clean up<//>` : null}
      <${Button} kind="quiet small" label=${`Clear ${name}`} onclick=${() => model.clear(name)}>Clear<//></span>`;
  }
  if (state === "absent") return html`<${Button} kind="quiet small" label=${`Clear ${name}`} onclick=${() => model.clear(name)}>Clear<//>`;
  if (state === "open" && isActive) {
    return html`<${Button} kind="quiet small" label=${`${name} is not on this site`} title="No page of this template has it" onclick=${() => model.notOnSite(name)}>Not on this site<//>`;
  }
  return null;
}

function ChipValue({ model, name, mark, canRemove }) {
  return html`<div class="value tint" title=${mark.text}><span class="grow cut">${mark.text}</span>${canRemove
    ? html`<button type="button" class="remove" aria-label=${`Remove ${mark.text} from ${name}`} onclick=${() => model.removeValue(name, mark)}>×</button>` : null}</div>`;
}
