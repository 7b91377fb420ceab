// Items become nodes one by one. Nothing is parsed, so only what the server listed can exist.

// Everything can be selected and clicked. Images that did not come along are shown as empty boxes.
const STYLE = `
  * { user-select: text !important; -webkit-user-select: text !important; cursor: crosshair !important; }
  ::selection { background: oklch(85% 0.12 var(--untemplate-hue, 265) / 0.7) !important; color: inherit !important; }
  :where(img:not([src])) { display: inline-block; min-width: 24px; min-height: 24px; outline: 1px dashed #9aa0a6;
    outline-offset: -1px; background: repeating-linear-gradient(45deg, #8881 0 6px, #8882 6px 12px); }
`;

// A page without its style sheets stays readable: a column of text, and navigation folded into small boxes that scroll.
const PLAIN_STYLE = `
  html { background: #fff; color: #1c1f26; font: 16px/1.55 system-ui, sans-serif; }
  body { max-width: 880px; margin: 20px auto; padding: 0 20px; }
  img { max-width: min(100%, 320px); height: auto; }
  table { border-collapse: collapse; max-width: 100%; }
  td, th { padding: 3px 8px; vertical-align: top; text-align: left; }
  a { color: #3d4fc4; }
  [data-untemplate-menu] { max-height: 64px; overflow: auto; margin: 6px 0; padding: 4px 10px; border: 1px solid #dfdfd9; border-radius: 8px;
    background: #f6f6f3; font-size: 13px; line-height: 1.4; }
  [data-untemplate-menu] li { display: inline-block; margin-right: 12px; }
`;
const MENU_LINKS = 6; // a list with at least so many links, and hardly anything else, is navigation
const MENU_SHARE = 0.85;
const MENU_WORDS = 30; // letters of a link, on average; longer ones are headlines

export class Scene {
  constructor(nodes, numbers) {
    this.nodes = nodes;
    this.numbers = numbers;
  }

  number(node) {
    return this.numbers.get(node);
  }
}

// `plain`: whether the page comes without its style sheets.
export function build(items, plain) {
  const nodes = new Array(items.length);
  const numbers = new Map();
  items.forEach(([parent, content, attributes], number) => {
    const node = attributes === undefined ? document.createTextNode(content) : element(content, attributes);
    nodes[number] = node;
    numbers.set(node, number);
    if (parent >= 0) nodes[parent].append(node);
  });
  const root = nodes[0]?.nodeName === "HTML" ? nodes[0] : document.createElement("html");
  if (root !== nodes[0]) root.append(nodes[0]);
  const style = document.createElement("style");
  style.textContent = STYLE;
  root.append(style);
  document.replaceChild(root, document.documentElement);
  if (plain) makeReadable(root);
  return new Scene(nodes, numbers);
}

function element(tag, attributes) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function makeReadable(root) {
  const style = document.createElement("style");
  style.textContent = PLAIN_STYLE;
  root.prepend(style);
  for (const list of root.querySelectorAll("nav, [role=navigation], ul, ol")) {
    if (isMenu(list) && !list.parentElement.closest("[data-untemplate-menu]")) list.setAttribute("data-untemplate-menu", "");
  }
}

function isMenu(list) {
  if (list.nodeName === "NAV" || list.getAttribute("role") === "navigation") return true;
  const links = [...list.querySelectorAll("a")];
  const letters = links.reduce((sum, link) => sum + link.textContent.trim().length, 0);
  const all = list.textContent.replace(/\s+/g, " ").trim().length;
  return links.length >= MENU_LINKS && letters >= MENU_SHARE * all && letters <= MENU_WORDS * links.length;
}
