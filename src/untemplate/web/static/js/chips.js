// The attributes at the side: for each, the labeled or found values on this page, and the rule in words.
import { badge, button, h, hue, words } from "./dom.js";

export function panel(side, view) {
  const { session } = view;
  side.replaceChildren(
    h("div", { class: "stack" },
      status(view),
      h("ol", { class: "chips" }, session.attributes.map((attribute, index) => h("li", {}, chip(view, attribute, index))))),
    h("footer", { class: "row" },
      button("↶", () => view.undo(), { label: "Undo", title: "Undo (u)", disabled: !view.history.undo() }),
      button("↷", () => view.redo(), { label: "Redo", title: "Redo (r)", disabled: !view.history.redo() }),
      button(["Not here ", h("kbd", {}, "x")], () => view.absent(), { title: "The active attribute is not on this page" }),
      button(["All correct ", h("kbd", {}, "⏎")], () => view.accept(), { kind: "primary", disabled: !session.attributes.some((one) => one.rule),
        title: "Accept the values that the rules found on this page, and go to the next page" })));
}

function status(view) {
  const { session } = view;
  if (view.proposal) return proposal(view);
  const labeled = session.rows.filter((row) => row.labeled).length;
  if (session.done) {
    return h("div", { class: "notice good done" },
      h("div", { class: "grow" }, h("strong", {}, "Done."), ` The rules extract from all ${session.rows.length - labeled} remaining sample pages.`),
      session.saved ? badge("saved", "good") : button(["Save rules ", h("kbd", {}, "s")], () => view.save(), { kind: "primary" }),
      button("Export records", () => view.exportRecords()));
  }
  const failing = session.rows.filter((row) => !row.extracted).length;
  const text = !labeled ? "Click each value on the page; the records below fill in as you go."
    : session.undecided.length ? `Still to label: ${session.undecided.join(", ")}.`
    : failing ? `${failing} of ${session.rows.length} pages need a review.` : "";
  const elsewhere = session.next && session.next !== view.page.page;
  return h("div", { class: "notice" }, h("div", { class: "grow small" }, text),
    elsewhere && labeled ? button(["Next page ", h("kbd", {}, "n")], () => view.next(), { kind: "small" }) : null);
}

function proposal(view) {
  const { attribute, clicks } = view.proposal;
  return h("div", { class: "notice proposal", role: "status" },
    h("div", { class: "grow small" }, "Are all of these ", h("strong", {}, attribute), "?"),
    button([`All ${clicks.length} `, h("kbd", {}, "a")], () => view.acceptAll(), { kind: "primary small", title: "Label all that are like the two you clicked" }),
    button(["No ", h("kbd", {}, "Esc")], () => view.decline(), { kind: "small", title: "Keep only what you clicked" }));
}

function chip(view, attribute, index) {
  const { name } = attribute;
  const labels = view.own(name);
  const found = view.own(name, "found");
  const absent = view.marks.absent.includes(name);
  const values = labels.length ? labels : found;
  const doubtful = !labels.length && found.some((mark) => mark.confidence <= 0.5);
  const state = labels.length ? "labeled" : absent ? "absent" : found.length ? (doubtful ? "doubtful" : "found") : attribute.rule ? "missing" : "open";
  const active = index === view.active;
  const note = { labeled: "labeled by you", absent: "not on this page", found: "found by the rule", doubtful: "found, but doubtful", missing: "not found", open: "" }[state];
  return h("div", { class: `chip ${state}${active ? " active" : ""}`, style: { "--hue": hue(index) } },
    h("button", { type: "button", class: "name", "aria-pressed": String(active), "aria-keyshortcuts": index < 9 ? String(index + 1) : null,
      onclick: () => { view.choose(index); view.reveal(name); } },
      h("span", { class: "dot", "aria-hidden": "true" }),
      h("span", { class: "grow cut" }, name, attribute.mandatory ? h("span", { class: "soft", title: "mandatory" }, " *") : null),
      index < 9 ? h("kbd", {}, String(index + 1)) : null),
    h("div", { class: "values" },
      values.map((mark) => h("div", { class: "value tint cut", title: mark.text }, mark.text)),
      h("div", { class: "row spread tiny soft" }, h("span", {}, note),
        labels.length || absent ? button("Clear", () => view.clear(name), { kind: "quiet small", label: `Clear ${name}` }) : null)),
    active && attribute.rule ? h("p", { class: "rule tiny soft" }, "Rule: ", words(attribute.rule)) : null,
    active ? attribute.problems.map((problem) => h("p", { class: "rule tiny problem" }, problem)) : null);
}
