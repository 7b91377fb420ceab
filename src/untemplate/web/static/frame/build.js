// Items become nodes one by one. Nothing is parsed, so only what the server listed can exist.

// Everything can be selected and clicked. Images that did not come along are shown as empty boxes.
const STYLE = `
  * { user-select: text !important; -webkit-user-select: text !important; cursor: crosshair !important; }
  ::selection { background: oklch(85% 0.12 var(--untemplate-hue, 265) / 0.7) !important; color: inherit !important; }
  :where(img:not([src])) { display: inline-block; min-width: 24px; min-height: 24px; outline: 1px dashed #9aa0a6;
    outline-offset: -1px; background: repeating-linear-gradient(45deg, #8881 0 6px, #8882 6px 12px); }
`;

export class Scene {
  constructor(nodes, numbers) {
    this.nodes = nodes;
    this.numbers = numbers;
  }

  number(node) {
    return this.numbers.get(node);
  }
}

export function build(items) {
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
  return new Scene(nodes, numbers);
}

function element(tag, attributes) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
