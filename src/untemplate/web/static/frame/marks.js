// Boxes over the page, in a shadow tree that the styles of the page do not affect. The page itself never changes.

const STYLE = `
  div { position: absolute; box-sizing: border-box; pointer-events: none; border-radius: 3px; }
  .label { background: oklch(80% 0.13 var(--hue) / 0.35); border: 2px solid oklch(55% 0.19 var(--hue)); }
  .found { background: oklch(85% 0.1 var(--hue) / 0.25); border: 2px dashed oklch(60% 0.16 var(--hue)); }
  .doubtful { border-style: dotted; }
  .proposed { background: oklch(88% 0.08 var(--hue) / 0.2); border: 2px dotted oklch(60% 0.16 var(--hue)); }
  .whole { border: 1px dashed oklch(60% 0.16 var(--hue)); }
  .row { background: oklch(88% 0.06 var(--hue) / 0.12); border: 1px dashed oklch(60% 0.16 var(--hue)); }
  .hover { border: 2px solid oklch(55% 0.2 var(--hue)); background: oklch(70% 0.15 var(--hue) / 0.15); }
  .cursor { border: 3px solid oklch(50% 0.22 var(--hue)); background: oklch(70% 0.15 var(--hue) / 0.2); }
  span { position: absolute; left: -2px; bottom: 100%; padding: 1px 6px; border-radius: 4px 4px 0 0; white-space: nowrap;
    font: 600 11px/1.4 system-ui, sans-serif; color: #fff; background: oklch(48% 0.17 var(--hue)); }
  .beside { display: flex; gap: 4px; }
  .beside span { position: static; border-radius: 4px; box-shadow: 0 1px 4px #0004; }
  .beside .active { opacity: 0.92; }
`;
const TAG = { height: 17, letter: 6.6, padding: 14 }; // pixels of a tag with the name of an attribute
const OUTLINES = ["whole", "row"]; // what gets one box around all of it
const BESIDE = 16; // pixels between the pointer and what is written beside it

export class Marks {
  constructor(scene) {
    this.scene = scene;
    this.marks = [];
    this.pointers = {};
    this.name = ""; // the active attribute
    this.pointer = null; // where the pointer is
    this.host = document.createElement("untemplate-marks");
    const wanted = "all: initial !important; position: absolute !important; top: 0 !important; left: 0 !important; " +
      "width: 0 !important; height: 0 !important; display: block !important; z-index: 2147483647 !important;";
    this.host.setAttribute("style", wanted);
    this.layer = this.host.attachShadow({ mode: "closed" });
    document.documentElement.append(this.host);
    const again = () => this.schedule();
    addEventListener("resize", again);
    document.addEventListener("scroll", again, true);
    document.addEventListener("load", again, true);
  }

  show(marks) {
    this.marks = marks;
    this.schedule();
  }

  // A box that follows the pointer or the keyboard: `target` comes from the picker, or is null.
  point(name, target, hue) {
    this.pointers[name] = target && { ...target, hue };
    this.schedule();
  }

  // The name of the active attribute is shown beside the pointer, with the names of the marks under it.
  follow(event) {
    this.pointer = event && { x: event.clientX, y: event.clientY };
    this.schedule();
  }

  // Scrolls to the main content: the first heading, or else what the page calls its main part.
  revealMain() {
    const main = document.querySelector("h1") ?? document.querySelector("main, [role=main], article, h2");
    if (main) scrollTo({ top: scrollY + main.getBoundingClientRect().top - BESIDE, behavior: "instant" });
  }

  reveal(items) {
    const range = this.range({ items });
    const box = range?.getBoundingClientRect();
    if (!box || (box.top >= 0 && box.bottom <= innerHeight)) return;
    scrollTo({ top: scrollY + box.top - innerHeight / 3, behavior: "instant" });
  }

  schedule() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.draw();
    });
  }

  draw() {
    const style = document.createElement("style");
    style.textContent = STYLE;
    const origin = this.host.getBoundingClientRect();
    const named = new Set(); // of the values of a list only the first has its name
    this.shown = []; // the names and boxes that are drawn
    const boxes = this.marks.flatMap((mark) => {
      const kind = mark.kind === "found" && mark.confidence <= 0.5 ? "found doubtful" : mark.kind;
      const made = this.boxes(mark, kind, mark.hue, origin, named.has(mark.name) ? null : mark.name);
      if (made.length) named.add(mark.name);
      return made;
    });
    for (const [name, target] of Object.entries(this.pointers)) {
      if (target) boxes.push(...this.boxes(target, name, target.hue, origin));
    }
    if (this.pointer && this.name) boxes.push(this.besidePointer(origin));
    this.layer.replaceChildren(style, ...boxes);
  }

  boxes(mark, kind, hue, origin, name) {
    const range = this.range(mark);
    if (!range) return [];
    const all = OUTLINES.includes(kind) ? [range.getBoundingClientRect()] : [...range.getClientRects()];
    const rects = all.filter((rect) => rect.width > 1 && rect.height > 1).slice(0, 50);
    return merged(rects).map((rect, index) => {
      const box = document.createElement("div");
      box.className = kind;
      box.style.setProperty("--hue", hue);
      box.style.left = `${rect.left - origin.left - 2}px`;
      box.style.top = `${rect.top - origin.top - 2}px`;
      box.style.width = `${rect.right - rect.left + 4}px`;
      box.style.height = `${rect.bottom - rect.top + 4}px`;
      if (mark.name) this.shown.push({ name: mark.name, hue, rect });
      if (name && index === 0 && hasRoom(rect, name)) box.append(tag(name));
      return box;
    });
  }

  besidePointer(origin) {
    const { x, y } = this.pointer;
    const row = document.createElement("div");
    row.className = "beside";
    row.style.left = `${Math.min(x + BESIDE, innerWidth - this.name.length * TAG.letter - 2 * TAG.padding) - origin.left}px`;
    row.style.top = `${Math.min(y + BESIDE, innerHeight - TAG.height - 4) - origin.top}px`;
    const under = this.shown.filter(({ rect, name }) => name !== this.name && x >= rect.left && x <= rect.right && y >= rect.top && y <= rect.bottom);
    const names = new Map([[this.name, this.pointers.hover?.hue ?? getComputedStyle(document.documentElement).getPropertyValue("--untemplate-hue")], ...under.map(({ name, hue }) => [name, hue])]);
    row.append(...[...names].map(([name, hue]) => {
      const made = tag(name === this.name ? name : `${name} is here`);
      made.style.setProperty("--hue", hue);
      return made;
    }));
    return row;
  }

  range({ items, part }) {
    const nodes = items.map((item) => this.scene.nodes[item]).filter(Boolean);
    if (!nodes.length) return null;
    const range = document.createRange();
    const [first, last] = [nodes[0], nodes[nodes.length - 1]];
    if (first.nodeType === Node.TEXT_NODE) {
      const [start, stop] = bounds(first.data, part);
      range.setStart(first, start);
      if (first === last) range.setEnd(first, stop);
      else range.setEndAfter(last);
    } else if (first.childNodes.length) {
      range.selectNodeContents(first);
    } else {
      range.selectNode(first);
    }
    return range;
  }
}

function tag(name) {
  const made = document.createElement("span");
  made.textContent = name;
  return made;
}

// Whether a tag above a box covers no text. Outside of the window nobody sees it.
function hasRoom({ left, top }, name) {
  const width = name.length * TAG.letter + TAG.padding;
  if (top < TAG.height + 2 || top > innerHeight) return false;
  const isFree = (y) => [0, 0.25, 0.5, 0.75, 1].every((share) => !isTextAt(left + 2 + share * (width - 4), y));
  return isFree(top - 4) && isFree(top - TAG.height);
}

function isTextAt(x, y) {
  const caret = document.caretPositionFromPoint?.(x, y);
  const node = caret ? caret.offsetNode : document.caretRangeFromPoint?.(x, y)?.startContainer;
  if (node?.nodeType !== Node.TEXT_NODE || !node.data.trim()) return false;
  const range = document.createRange();
  range.selectNodeContents(node);
  return [...range.getClientRects()].some((rect) => x >= rect.left && x <= rect.right && y >= rect.top - 4 && y <= rect.bottom + 4);
}

// Start and end of the value in the raw text, which may have more white space.
function bounds(text, part) {
  const words = (part ?? text.trim()).split(/\s+/).filter(Boolean).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  if (words.length > 200) return [0, text.length];
  const phrase = words.join("\\s+");
  const asWords = new RegExp(`(?<![\\p{L}\\p{N}])${phrase}(?![\\p{L}\\p{N}])`, "u"); // the R of "Rated R"
  const match = words.length ? asWords.exec(text) ?? new RegExp(phrase, "u").exec(text) : null;
  return match ? [match.index, match.index + match[0].length] : [0, text.length];
}

// Merges boxes on one line, because the text of an element comes in pieces.
function merged(rects) {
  const lines = [];
  for (const { left, right, top, bottom } of rects) {
    const line = lines.find((one) => Math.abs(one.top - top) < 4 && Math.abs(one.bottom - bottom) < 8 && left - one.right < 16);
    if (line) {
      Object.assign(line, { left: Math.min(line.left, left), right: Math.max(line.right, right),
        top: Math.min(line.top, top), bottom: Math.max(line.bottom, bottom) });
    } else lines.push({ left, right, top, bottom });
  }
  return lines;
}
