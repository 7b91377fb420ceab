// Boxes over the page, in a shadow tree that the styles of the page do not affect. The page itself never changes.

const STYLE = `
  div { position: absolute; box-sizing: border-box; pointer-events: none; border-radius: 3px; }
  .label { background: oklch(80% 0.13 var(--hue) / 0.35); border: 2px solid oklch(55% 0.19 var(--hue)); }
  .found { background: oklch(85% 0.1 var(--hue) / 0.25); border: 2px dashed oklch(60% 0.16 var(--hue)); }
  .doubtful { border-style: dotted; }
  .proposed { background: oklch(88% 0.08 var(--hue) / 0.2); border: 2px dotted oklch(60% 0.16 var(--hue)); }
  .hover { border: 2px solid oklch(55% 0.2 var(--hue)); background: oklch(70% 0.15 var(--hue) / 0.15); }
  .cursor { border: 3px solid oklch(50% 0.22 var(--hue)); background: oklch(70% 0.15 var(--hue) / 0.2); }
  span { position: absolute; left: -2px; bottom: 100%; padding: 1px 6px; border-radius: 4px 4px 0 0; white-space: nowrap;
    font: 600 11px/1.4 system-ui, sans-serif; color: #fff; background: oklch(48% 0.17 var(--hue)); }
`;

export class Marks {
  constructor(scene) {
    this.scene = scene;
    this.marks = [];
    this.pointers = {};
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
    const named = new Set(); // of the values of a list only the first has its name, which would cover the others
    const boxes = this.marks.flatMap((mark) => {
      const kind = mark.kind === "found" && mark.confidence <= 0.5 ? "found doubtful" : mark.kind;
      const made = this.boxes(mark, kind, mark.hue, origin, named.has(mark.name) ? null : mark.name);
      if (made.length) named.add(mark.name);
      return made;
    });
    for (const [name, target] of Object.entries(this.pointers)) {
      if (target) boxes.push(...this.boxes(target, name, target.hue, origin));
    }
    this.layer.replaceChildren(style, ...boxes);
  }

  boxes(mark, kind, hue, origin, name) {
    const range = this.range(mark);
    if (!range) return [];
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 1 && rect.height > 1).slice(0, 50);
    return merged(rects).map((rect, index) => {
      const box = document.createElement("div");
      box.className = kind;
      box.style.setProperty("--hue", hue);
      box.style.left = `${rect.left - origin.left - 2}px`;
      box.style.top = `${rect.top - origin.top - 2}px`;
      box.style.width = `${rect.right - rect.left + 4}px`;
      box.style.height = `${rect.bottom - rect.top + 4}px`;
      if (name && index === 0) {
        const tag = document.createElement("span");
        tag.textContent = name;
        if (rect.top - origin.top < 20) tag.setAttribute("style", "bottom: auto; top: 100%;");
        box.append(tag);
      }
      return box;
    });
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

// Start and end of the value in the raw text, which may have more white space.
function bounds(text, part) {
  const words = (part ?? text.trim()).split(/\s+/).filter(Boolean).map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  if (words.length > 200) return [0, text.length];
  const match = words.length ? new RegExp(words.join("\\s+")).exec(text) : null;
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
