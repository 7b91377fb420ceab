// Small parts that all views are made of.
import { html, useEffect, useRef, useState } from "./lib.js";
import { complain } from "./store.js";

export function Button({ kind = "", label, keys, children, ...rest }) {
  return html`<button type="button" class=${`button ${kind}`} aria-label=${label} ...${rest}>${children}${keys ? html` <kbd>${keys}</kbd>` : null}</button>`;
}

export function Badge({ kind = "", children, ...rest }) {
  return html`<span class=${`badge ${kind}`} ...${rest}>${children}</span>`;
}

export function Meter({ share }) {
  const percent = `${Math.round(share * 100)}%`;
  return html`<span class=${share < 0.8 ? "meter low" : "meter"}>
    <span class="track" aria-hidden="true"><span style=${{ width: percent }}></span></span><span class="tiny number soft">${percent}</span></span>`;
}

// What to do where there is nothing to show yet. `isView`: it is all that the view shows, so its title is the heading.
export function Empty({ title, isView, children }) {
  const heading = isView ? html`<h1>${title}</h1>` : html`<h2>${title}</h2>`;
  return html`<div class="empty">${title ? heading : null}${children}</div>`;
}

// A text with `names` in backticks, which become code elements.
export function Words({ text }) {
  return text.split("`").map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));
}

export function Dot({ hue: value }) {
  return html`<span class="dot" style=${{ "--hue": value }} aria-hidden="true"></span>`;
}

// A modal dialog that is open as long as it exists.
export function Dialog({ title, kind = "", onclose, children }) {
  const box = useRef();
  useEffect(() => { box.current.showModal(); }, []);
  const close = () => box.current.close();
  if (kind) {
    return html`<dialog ref=${box} class=${kind} aria-label=${title} onclose=${onclose}>
      <div class="row spread"><h2>${title}</h2><${Button} kind="quiet small" label="Close" onclick=${close}>×<//></div>${children}</dialog>`;
  }
  return html`<dialog ref=${box} aria-label=${title} onclose=${onclose}><h2>${title}</h2>${children}
    <div class="row"><${Button} kind="primary" onclick=${close}>Close<//></div></dialog>`;
}

// What a request answers, read again whenever one of `inputs` changes; undefined until then.
export function useAnswer(request, inputs) {
  const [answer, setAnswer] = useState();
  useEffect(() => {
    let isCurrent = true;
    request().then((value) => { if (isCurrent) setAnswer(value); }).catch((error) => { if (isCurrent) complain(error); });
    return () => { isCurrent = false; };
  }, inputs);
  return answer;
}

export function when(moment) {
  return moment ? new Date(moment).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "";
}

export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

export function percent(share) {
  return `${Math.round(share * 100)}%`;
}

// The color of an attribute, by its position in the schema. Neighbors get very different colors.
const HUES = [265, 35, 150, 325, 85, 205, 5, 120, 295, 180];

export function hue(index) {
  return HUES[Math.max(index, 0) % HUES.length];
}
