// What a person does in Annotate: label, confirm, undo, save. Each change waits for the one before it.
import { post, put } from "../api.js";
import { pickMode } from "../framelink.js";
import { clicksAfter, extendedClicks, without } from "../labels.js";
import { batch } from "../lib.js";
import { complain, say } from "../store.js";
import { AnnotateState } from "./state.js";

export class Annotate extends AnnotateState {
  // What the rules found on this page and nobody labeled: what Enter confirms.
  get toConfirm() {
    return this.session.value.attributes.filter(({ name }) => !this.isLabeled(name) && this.own(name, "found").length);
  }

  // Labels

  // `unit` and `inner`: if a whole list item is picked, the item itself and the text under the pointer.
  pick(picked) {
    const { page } = this.page.value;
    return this.desk.take(() => {
      if (page !== this.page.value.page) return null; // another page is shown by now
      if (picked.extend) return this.extend(this.extending ?? this.attribute.name, picked);
      const { name, many } = this.attribute;
      const { clicks, isRemoved } = clicksAfter(picked, this.valuesOf(name), many);
      return this.label(name, clicks, isRemoved);
    });
  }

  // Values of the embedded data, by their numbers.
  pickEmbedded(numbers) {
    const { page } = this.page.value;
    return this.desk.take(() => {
      if (page !== this.page.value.page) return null;
      const { name, many } = this.attribute;
      const clicks = numbers.map((embedded) => ({ embedded }));
      if (!many || numbers.length > 1) return this.label(name, clicks);
      const labels = this.own(name);
      const same = labels.find((mark) => mark.embedded.includes(numbers[0]));
      return this.label(name, same ? without(labels, same) : [...without(labels, null), ...clicks], Boolean(same));
    }).catch(complain);
  }

  // One value of a list is no value.
  removeValue(name, mark) {
    return this.desk.take(() => this.label(name, without(this.valuesOf(name), mark), true));
  }

  acceptAll() {
    return this.accepting("clicks");
  }

  acceptWhole() {
    return this.accepting("whole");
  }

  accepting(kind) {
    return this.desk.take(() => {
      const { attribute, [kind]: clicks } = this.proposal.value ?? { [kind]: [] };
      return clicks.length ? this.label(attribute, clicks, false, true) : null;
    });
  }

  decline() {
    this.declined.add(`${this.page.value.page}\n${this.proposal.value.attribute}`);
    this.proposal.value = null;
    this.sendMarks();
  }

  // The following methods run inside `desk.take`.

  extend(name, { item, last }) {
    const marks = this.own(name);
    if (!marks.length) return say(`There is nothing to extend: click the first text of ${name}, then Shift click the last one.`);
    if (!marks.at(-1).items.length) return say(`${name} is a value of the embedded data. It cannot be extended on the page.`);
    if (pickMode(this.attributeNamed(name)) === "image") return say(`${name} is an image. An image cannot be extended.`);
    return this.label(name, extendedClicks(marks, [item, last]), true);
  }

  // `stay`: keep the active attribute. `isComplete`: a list that needs no further click.
  label(name, clicks, stay = false, isComplete = false) {
    return this.send(this.desk.set(this.page.value.page, name, clicks), () => {
      this.extending = name;
      this.frame.order("leave");
      const many = this.attributeNamed(name)?.many;
      if (!stay && (isComplete || !(many && clicks?.length))) this.active.value = this.firstOpen(this.session.value.attributes.findIndex((one) => one.name === name));
    }, name);
  }

  async send(request, then = () => {}, name = null) {
    this.isBusy.value = true;
    try {
      const { session, marks, proposal } = await request;
      const before = this.session.value;
      batch(() => {
        this.proposal.value = proposal && !this.declined.has(`${marks.page}\n${proposal.attribute}`) ? proposal : null;
        this.show(session, marks, then);
        this.isBusy.value = false;
        this.complete();
      });
      this.tellNews(before, session, name);
    } catch (error) {
      complain(error);
      this.isBusy.value = false;
      this.complete();
    }
  }

  // Says at once if labels contradict each other, and when labeling is done.
  tellNews(before, session, name) {
    const problemsOf = (one) => one.attributes.find((attribute) => attribute.name === name)?.problems ?? [];
    const [problem] = problemsOf(session).filter((one) => !problemsOf(before).includes(one));
    const shared = this.sharedPlace(name);
    if (problem) say(`${name}: ${problem} (u takes the label back)`, "bad");
    else if (shared) say(`This place is labeled as ${shared}, too (u takes the label back).`, "bad");
    if (session.done && !before.done) say(session.unlearned.length ? `Done, but no rule fits the labels of ${session.unlearned.join(", ")}.` : "Done: the rules extract from every sample page.");
  }

  // Another attribute that has a label at the same place as the latest label of an attribute.
  sharedPlace(name) {
    const latest = this.own(name).at(-1);
    if (!latest?.items.length) return null;
    const key = (mark) => `${mark.items.join()} ${mark.part ?? ""} ${mark.place ?? ""}`;
    return this.marks.value.marks.find((mark) => mark.kind === "label" && mark.attribute !== name && key(mark) === key(latest))?.attribute ?? null;
  }

  // Actions of the person

  absent() {
    return this.desk.take(() => this.label(this.attribute.name, null));
  }

  notOnSite(name) {
    return this.desk.take(() => this.send(this.desk.notOnSite(this.page.value.page, name)));
  }

  // Leaves the page aside with a note; null takes it back.
  flag(note) {
    return this.desk.take(async () => {
      this.session.value = await put("flag", { site: this.site, page: this.page.value.page, note });
      this.complete();
    });
  }

  // Cuts all values of an attribute in the same way.
  async cleanUp(cut) {
    await this.desk.take(() => this.send(this.desk.cleanUp(cut)));
  }

  clear(name) {
    return this.desk.take(() => this.label(name ?? this.attribute.name, [], true));
  }

  async accept() {
    await this.desk.take(() => (this.toConfirm.length ? this.send(this.desk.confirm(this.page.value.page)) : null));
    if (!this.session.value.done) await this.next();
  }

  async travel(back) {
    const where = await this.desk.take(async () => {
      const answer = await this.desk.travel(back);
      if (!answer) return say(back ? "Nothing to undo." : "Nothing to redo.");
      this.proposal.value = null;
      this.show(answer.session, answer.marks);
      return answer.marks.page;
    });
    if (where && where !== this.page.value.page) await this.turnTo(where);
    else if (where) this.complete();
  }

  save() {
    return this.desk.take(async () => {
      if (this.session.value.saved) return say("The rules are saved already.");
      const { version } = await post("rules/save", { site: this.site });
      say(`Rules saved as version ${version}.`);
      this.complete();
    });
  }

  choosePart() {
    const item = this.cursor.value?.item ?? this.own(this.attribute.name)[0]?.items[0];
    const found = item === undefined ? null : this.page.value.items[item];
    if (!found || found.length !== 2) return say("Select a text first: press ↓ or /, or click one.");
    this.part.value = { item, text: found[1].split(/\s+/).filter(Boolean).join(" ") };
  }

  labelPart(item, part) {
    return this.desk.take(() => this.label(this.attribute.name, [{ item, part }])).catch(complain);
  }
}
