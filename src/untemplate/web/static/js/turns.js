// Runs actions one after the other: each one starts after the previous one has ended.

export class Turns {
  constructor() {
    this.last = Promise.resolve();
    this.waiting = 0;
    this.passed = 0;
  }

  get busy() {
    return this.waiting > 0;
  }

  take(act) {
    this.waiting += 1;
    const done = this.last.then(act);
    this.last = done.catch(() => {}).then(() => {
      this.waiting -= 1;
      this.passed += 1;
    });
    return done;
  }
}
