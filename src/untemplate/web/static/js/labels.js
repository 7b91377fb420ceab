// Changes of labels, in Annotate and in Review: one after the other, with undo and redo.
import { post, put } from "./api.js";
import { signal } from "./lib.js";

const LIMIT = 200; // changes that can be undone
const desks = new Map();

// The desk of a template. Views share it, so that Review undoes what Annotate did.
export function labelDesk(site, cluster) {
  const key = `history/${site}/${cluster}`;
  if (!desks.has(key)) desks.set(key, new LabelDesk(site, key));
  return desks.get(key);
}

class LabelDesk {
  constructor(site, key) {
    this.site = site;
    this.key = key;
    this.last = Promise.resolve();
    this.waiting = 0;
    this.passed = 0;
    this.history = signal(readHistory(key)); // {done, undone}: the order in which this window changed labels
  }

  // Whether somebody waits for an answer of the server.
  get busy() {
    return this.waiting > 0;
  }

  // Runs `act` after all that was asked for before, and returns what it returns.
  take(act) {
    this.waiting += 1;
    const done = this.last.then(act);
    this.last = done.catch(() => {}).then(() => {
      this.waiting -= 1;
      this.passed += 1;
    });
    return done;
  }

  // The following methods change labels. They run inside `take`, and return the answer of the server.

  async set(page, attribute, clicks) {
    return this.remember(await put("labels", { site: this.site, page, attribute, clicks }));
  }

  async confirm(page, attributes = null) {
    return this.remember(await post("labels/confirm", { site: this.site, page, attributes }));
  }

  async notOnSite(page, attribute) {
    return this.remember(await post("labels/absent", { site: this.site, page, attribute }));
  }

  async cleanUp(cut) {
    return this.remember(await post("cleanup", cut));
  }

  // Undoes the latest change, or repeats the one undone last; null if there is none.
  async travel(back) {
    const { done, undone } = this.history.value;
    const step = (back ? done : undone).at(-1);
    if (!step) return null;
    const [restore, remove] = back ? [step.removed, step.added] : [step.added, step.removed];
    const answer = await post("labels/change", { site: this.site, page: step.page, restore, remove });
    this.keep(back ? { done: done.slice(0, -1), undone: [...undone, step] } : { done: [...done, step], undone: undone.slice(0, -1) });
    return answer;
  }

  remember(answer) {
    const { added, removed } = answer.change;
    if (added.length || removed.length) {
      this.keep({ done: [...this.history.value.done, { page: answer.marks.page, added, removed }].slice(-LIMIT), undone: [] });
    }
    return answer;
  }

  keep(history) {
    this.history.value = history;
    sessionStorage.setItem(this.key, JSON.stringify(history));
  }
}

function readHistory(key) {
  try {
    const { done, undone } = JSON.parse(sessionStorage.getItem(key));
    return { done, undone };
  } catch {
    return { done: [], undone: [] };
  }
}

// A label or a found value that stays as it is.
function keptClick(mark) {
  return mark.label === null ? { found: mark.found } : { label: mark.label };
}

// The clicks that stay if a mark is taken off an attribute.
export function without(marks, mark) {
  return marks.filter((one) => one !== mark).map(keptClick);
}

// The values of an attribute after a click, as clicks. `marks` are its labels, or else what the rule finds.
//   One value: the click replaces it. Several values: the click adds a value, or removes the one that was clicked.
//   Values that the rule found become labels with the first click; only doubtful ones are not taken over.
export function clicksAfter({ item, last, attribute, part, unit, inner }, marks, many) {
  const click = { item, last, attribute, part };
  if (!many) return { clicks: [click], isRemoved: false };
  const values = marks.filter((mark) => mark.label !== null || mark.confidence > 0.5);
  const same = part ? null : values.find((mark) => mark.items.length && [item, unit, inner].includes(mark.items[0]));
  if (!same) return { clicks: [...values.map(keptClick), click], isRemoved: false };
  if (same.label === null) return { clicks: values.map(keptClick), isRemoved: true };
  const kept = without(values, same);
  const isWhole = inner !== undefined && (same.items.length > 1 || same.items[0] === unit);
  // A second click on an item means only the text under the pointer, the next one nothing.
  return { clicks: isWhole ? [...kept, { item: inner }] : kept, isRemoved: true };
}

// The values of an attribute if the last one is extended up to further items.
export function extendedClicks(marks, items) {
  const all = [...marks.at(-1).items, ...items];
  return [...marks.slice(0, -1).map(keptClick), { item: Math.min(...all), last: Math.max(...all) }];
}
