// Elements are created one by one, and texts as text nodes: no string ever becomes HTML.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function button(text, onclick, { kind = "", title, disabled = false, label, ...rest } = {}) {
  return h("button", { type: "button", class: `button ${kind}`, onclick, title, disabled, "aria-label": label, ...rest }, text);
}

export function badge(text, kind = "") {
  return h("span", { class: `badge ${kind}` }, text);
}

export function meter(share) {
  const percent = `${Math.round(share * 100)}%`;
  return h("span", { class: share < 0.8 ? "meter low" : "meter" },
    h("span", { class: "track", "aria-hidden": "true" }, h("span", { style: { width: percent } })),
    h("span", { class: "tiny number soft" }, percent));
}

// A text with `names` in backticks, which become code elements.
export function words(text) {
  return text.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

export function toast(text, kind = "") {
  const shown = h("div", { class: `toast ${kind}` }, text);
  document.querySelector(".toasts").append(shown);
  setTimeout(() => shown.remove(), kind === "bad" ? 9000 : 4000);
}

export function dialog(title, ...content) {
  const close = button("Close", () => shown.close(), { kind: "primary" });
  const shown = h("dialog", { "aria-label": title, onclose: () => shown.remove() },
    h("h2", {}, title), ...content, h("div", { class: "row" }, close));
  document.body.append(shown);
  shown.showModal();
  return shown;
}

// Draws something again, and keeps the focus on the control with the same name.
export function keepFocus(root, draw) {
  const name = (one) => one.ariaLabel || one.textContent;
  const before = root.contains(document.activeElement) ? document.activeElement : null;
  draw();
  if (before && !before.isConnected) [...root.querySelectorAll(before.tagName)].find((one) => name(one) === name(before))?.focus();
}

export function when(moment) {
  return moment ? new Date(moment).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "";
}

export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

// The color of an attribute, by its position in the schema. Neighbors get very different colors.
const HUES = [265, 35, 150, 325, 85, 205, 5, 120, 295, 180];

export function hue(index) {
  return HUES[index % HUES.length];
}
