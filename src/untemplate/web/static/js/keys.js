// Keys of Annotate and Review. They work whether our document or the page has the focus.
import { html } from "./lib.js";
import { ask } from "./store.js";

const KEYS = [
  [["1", "…", "9"], "choose an attribute"],
  [["→", "←"], "next and previous attribute: after the last value of a list"],
  [["click"], "label the text under the pointer; of an attribute with several values, the list item: click again for only the text"],
  [["a"], "label all that are like the two items that you clicked; Esc if you do not mean them"],
  [["w"], "label the whole items around the two texts that you clicked, if they are offered"],
  [["d"], "show or hide the embedded data; click a value there to label it"],
  [["drag"], "label a part of a text"],
  [["Shift", "click"], "extend the last label to here"],
  [["↓", "↑"], "go to the next or previous text on the page"],
  [["/"], "find a text on the page; Enter labels it, Ctrl Enter labels only the part you typed, Esc goes back to the page"],
  [["Enter"], "label the current text; without one, confirm what the rules found and go on"],
  [["Shift", "Enter"], "extend the last label to the current text"],
  [["p"], "label a part of the current text"],
  [["m"], "go to the main content of the page"],
  [["x"], "not on this page"],
  [["Backspace"], "remove the label"],
  [["u"], "undo (also Ctrl Z)"],
  [["r"], "redo (also Ctrl Shift Z)"],
  [["j", "k"], "next and previous page of the sample"],
  [["f"], "leave the page aside with a note, or take it back"],
  [["n"], "go to the page that the rules are least sure about"],
  [["s"], "save the rules"],
  [["Esc"], "leave the text, or decline a proposal"],
];

export function help() {
  showKeys(KEYS);
}

export function showKeys(list) {
  ask("Keys", html`<dl class="keys">${list.map(([keys, what]) => html`
    <dt>${keys.map((key) => html`<kbd>${key}</kbd>${" "}`)}</dt><dd>${what}</dd>`)}</dl>`);
}

// The action of a key and its number, or null.
export function action({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (ctrlKey || metaKey) {
    if (key.toLowerCase() === "z") return shiftKey ? ["redo"] : ["undo"];
    return key.toLowerCase() === "y" ? ["redo"] : null;
  }
  if (altKey) return null;
  if (/^[1-9]$/.test(key)) return ["choose", Number(key) - 1];
  const plain = {
    x: ["absent"], u: ["undo"], r: ["redo"], j: ["step", 1], k: ["step", -1], n: ["next"], p: ["part"], s: ["save"],
    a: ["all"], w: ["whole"], d: ["data"], f: ["flag"], m: ["main"],
    "/": ["find"], "?": ["help"], Backspace: ["clear"], Delete: ["clear"], Escape: ["leave"],
    ArrowDown: ["move", 1], ArrowUp: ["move", -1], ArrowRight: ["turn", 1], ArrowLeft: ["turn", -1], Enter: [shiftKey ? "extend" : "enter"],
  };
  return plain[key] ?? null;
}

// Whether a key belongs to the control that has the focus: a field, a dialog, or a button that Enter presses.
export function belongsToControl(event) {
  const { tagName } = event.target;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(tagName) || document.querySelector("dialog[open]")) return true;
  return event.key === "Enter" && /^(BUTTON|A|SUMMARY)$/.test(tagName);
}

// A button that was clicked with the pointer gives the focus back, so that the next key means the page.
export function releaseFocus(event) {
  if (event.detail) event.target.closest?.("button")?.blur();
}
