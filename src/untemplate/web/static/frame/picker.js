// Finds what a person means: the text under the pointer, a selected part of it, an image or a link; or a text by keyboard.

const REACH = 3; // pixels around a text that still belong to it
const MAX_TEXTS = 60; // of a list item; one with more is a record of its own

export class Picker {
  constructor(scene, marks, tell) {
    this.scene = scene;
    this.marks = marks;
    this.tell = tell;
    this.use("text", 265);
    document.addEventListener("pointermove", (event) => this.hover(event), true);
    document.documentElement.addEventListener("pointerleave", () => {
      this.marks.point("hover", null);
      this.marks.follow(null);
    });
    document.addEventListener("click", (event) => this.click(event), true);
    document.addEventListener("mousedown", (event) => {
      if (event.shiftKey) event.preventDefault(); // extends the label, not the browser's selection
      this.leave();
    }, true);
  }

  // `mode` is text, image or url: the kind of values of the active attribute. `many`: whether it has several.
  use(mode, hue, many = false, name = "") {
    this.marks.name = name;
    if (mode === this.mode && hue === this.hue && many === this.many) return;
    this.mode = mode;
    this.hue = hue;
    this.many = many;
    this.candidates = null;
    document.documentElement.style.setProperty("--untemplate-hue", hue);
    this.leave();
  }

  hover(event) {
    this.marks.follow(event.pointerType === "touch" ? null : event);
    if (event.buttons) return this.marks.point("hover", null);
    this.marks.point("hover", this.at(event.clientX, event.clientY), this.hue);
  }

  click(event) {
    event.preventDefault();
    event.stopPropagation();
    if (event.detail > 1) return; // the second half of a double click
    const selected = this.mode === "text" && this.selected(event.altKey);
    getSelection().removeAllRanges();
    document.activeElement?.blur(); // a link that was clicked keeps no frame
    const target = selected || this.at(event.clientX, event.clientY);
    if (target) this.send(target, event.shiftKey);
  }

  send(target, extend) {
    const { items, attribute, part, unit, inner } = target;
    this.tell({ kind: "pick", item: items[0], last: items[items.length - 1], attribute, part, extend, unit, inner });
  }

  at(x, y) {
    if (this.mode !== "text") {
      const tag = this.mode === "image" ? "IMG" : "A";
      for (const element of document.elementsFromPoint(x, y)) {
        const target = element.closest(tag) ?? (tag === "IMG" ? element.querySelector("img:only-of-type") : null);
        if (target) return this.target(target);
      }
      if (this.mode === "image") return null;
      const image = document.elementsFromPoint(x, y).find((element) => element.tagName === "IMG");
      if (image) return this.target(image);
    }
    const text = this.textAt(x, y);
    if (text) return this.listItem(text) ?? this.target(text);
    const image = document.elementsFromPoint(x, y).find((element) => element.tagName === "IMG" && element.alt);
    return image ? { items: [this.scene.number(image)], attribute: "alt" } : null;
  }

  textAt(x, y) {
    const caret = document.caretPositionFromPoint?.(x, y);
    const node = caret ? caret.offsetNode : document.caretRangeFromPoint?.(x, y)?.startContainer;
    const element = document.elementFromPoint(x, y);
    const around = [node, ...(element?.childNodes ?? [])];
    return around.find((one) => isText(one) && covers(one, x, y)) ?? onlyText(element);
  }

  // The list item around a text, if there are several values and it has more texts: `<li><b>2</b> cups</li>`. A link
  // inside an item stays a value of its own.
  listItem(text) {
    const item = this.many ? text.parentElement.closest("li, dd") : null;
    if (!item || item.querySelector("li, dd")) return null;
    const texts = textsOf(item).filter((node) => this.scene.number(node) !== undefined);
    const link = text.parentElement.closest("a");
    if (texts.length < 2 || texts.length > MAX_TEXTS || (link && item.contains(link) && textsOf(link).length < texts.length)) return null;
    return { items: texts.map((node) => this.scene.number(node)), unit: this.scene.number(item), inner: this.scene.number(text) };
  }

  target(node) {
    const number = this.scene.number(node);
    if (number === undefined) return null;
    const attribute = { IMG: "src", A: "href" }[node.nodeName];
    return { items: [number], attribute };
  }

  // A dragged selection: a part of one text, or several complete texts. A part consists of whole words, unless `exactly`.
  selected(exactly) {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return null;
    const range = selection.getRangeAt(0);
    const texts = this.all().filter((node) => range.intersectsNode(node) && within(range, node, true).trim());
    if (!texts.length) return null;
    const items = texts.map((node) => this.scene.number(node));
    const part = texts.length === 1 ? within(range, texts[0], exactly) : null;
    return { items, part: part !== null && part.trim() !== texts[0].data.trim() ? part : undefined };
  }

  // By keyboard

  all() {
    const tag = { image: "IMG", url: "A" }[this.mode];
    this.candidates ??= this.scene.nodes.filter((node) =>
      tag ? node.nodeName === tag : node.nodeType === Node.TEXT_NODE && node.data.trim() && !/^(STYLE|TITLE)$/.test(node.parentNode?.nodeName));
    return this.candidates;
  }

  move(by) {
    const all = this.all();
    let index = this.cursor ? all.indexOf(this.cursor) : by > 0 ? -1 : all.length;
    do index += by;
    while (all[index] && !isVisible(all[index]));
    if (all[index]) this.place(all[index]);
  }

  find(text) {
    const wanted = text.toLowerCase().split(/\s+/).filter(Boolean).join(" ");
    if (!wanted) {
      this.tell({ kind: "found", found: true });
      return this.leave();
    }
    const all = this.all();
    const contains = (node) => words(node).toLowerCase().includes(wanted);
    const start = this.cursor ? all.indexOf(this.cursor) : 0;
    const found = [...all.slice(start), ...all.slice(0, start)].find((node) => contains(node) && isVisible(node)) ?? all.find(contains);
    this.tell({ kind: "found", found: Boolean(found) });
    if (found) this.place(found);
    else this.leave();
  }

  place(node) {
    this.cursor = node;
    const target = this.target(node);
    this.marks.point("cursor", target, this.hue);
    this.marks.reveal(target.items);
    this.tell({ kind: "cursor", text: words(node).slice(0, 200), item: target.items[0] });
  }

  pick(extend) {
    if (this.cursor) this.send(this.target(this.cursor), extend);
  }

  leave() {
    if (this.cursor) this.tell({ kind: "cursor", text: "" });
    this.cursor = null;
    this.marks.point("cursor", null);
    this.marks.point("hover", null);
  }
}

function isText(node) {
  return node?.nodeType === Node.TEXT_NODE && node.data.trim() !== "";
}

// Beside its text an element stands for it, if it has no other.
function onlyText(element) {
  const texts = element ? textsOf(element) : [];
  return texts.length === 1 ? texts[0] : null;
}

function textsOf(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (isText(walker.currentNode)) texts.push(walker.currentNode);
  return texts;
}

function words(node) {
  return (node.data ?? (node.alt || node.textContent) ?? "").split(/\s+/).filter(Boolean).join(" ");
}

// The text of a node inside a range, from the start of its first word to the end of its last, unless `exactly`.
function within(range, node, exactly) {
  const start = node === range.startContainer ? range.startOffset : 0;
  const stop = node === range.endContainer ? range.endOffset : node.data.length;
  const part = node.data.slice(start, stop);
  if (exactly || !part.trim()) return part;
  const [first, last] = [start + part.length - part.trimStart().length, stop - part.length + part.trimEnd().length];
  const words = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(node.data)].filter((word) => word.isWordLike);
  const cut = (place) => words.find(({ index, segment }) => index < place && place < index + segment.length);
  const [before, after] = [cut(first), cut(last)];
  return node.data.slice(before ? before.index : first, after ? after.index + after.segment.length : last);
}

function covers(node, x, y) {
  const range = document.createRange();
  range.selectNodeContents(node);
  return [...range.getClientRects()].some((rect) =>
    x >= rect.left - REACH && x <= rect.right + REACH && y >= rect.top - REACH && y <= rect.bottom + REACH);
}

function isVisible(node) {
  const range = document.createRange();
  range.selectNode(node);
  const box = range.getBoundingClientRect();
  return box.width > 1 && box.height > 1;
}
