// Undo and redo. Labels themselves are in the catalog; here is only in which order this window changed them.

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
      // kept by an older version: begin anew
    }
  }

  add(page, change) {
    if (!change.added.length && !change.removed.length) return;
    this.done.push({ page, ...change });
    this.undone = [];
    this.keep();
  }

  // What the server should do to undo the latest change; `commit` when it has.
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
