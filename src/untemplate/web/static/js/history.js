// Undo and redo. The labels are in the catalog; this stores only the order in which this window changed them.

const LIMIT = 200;

export class History {
  constructor(site, cluster) {
    this.key = `history/${site}/${cluster}`;
    this.done = [];
    this.undone = [];
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.key));
      if (kept) ({ done: this.done, undone: this.undone } = kept);
    } catch {
      // stored by an older version: start with an empty history
    }
  }

  add(page, change) {
    if (!change.added.length && !change.removed.length) return;
    this.done.push({ page, ...change });
    this.undone = [];
    this.keep();
  }

  // The request that undoes the latest change; call `commit` after it succeeded.
  undo() {
    const last = this.done.at(-1);
    return last && { page: last.page, restore: last.removed, remove: last.added, commit: () => this.shift(this.done, this.undone) };
  }

  redo() {
    const last = this.undone.at(-1);
    return last && { page: last.page, restore: last.added, remove: last.removed, commit: () => this.shift(this.undone, this.done) };
  }

  shift(from, to) {
    to.push(from.pop());
    this.keep();
  }

  keep() {
    this.done = this.done.slice(-LIMIT);
    sessionStorage.setItem(this.key, JSON.stringify({ done: this.done, undone: this.undone }));
  }
}
