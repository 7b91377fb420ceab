// Leaving a page aside: it needs no labels, and waits for others with a note.
import { html, useRef } from "../lib.js";
import { Badge, Button } from "../parts.js";
import { ask, closeDialog, complain } from "../store.js";

// Leaves the page aside after a question for a note, or takes it back.
export function toggleFlag(model) {
  if (model.flagNote !== null) return model.flag(null);
  return ask("Leave this page aside", html`<${FlagForm} model=${model} />`, "narrow");
}

function FlagForm({ model }) {
  const field = useRef();
  const take = () => {
    const note = field.current.value.trim();
    closeDialog();
    model.flag(note).then(() => model.next()).catch(complain);
  };
  const onkey = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    take();
  };
  return html`<div class="stack"><p class="small soft">It needs no labels then, and is listed in the overview for others.</p>
    <label class="stack tight small">Note<input ref=${field} type="text" autofocus maxlength="500" placeholder="such as: half of the page is missing" onkeydown=${onkey} /></label>
    <div class="row"><${Button} kind="primary" onclick=${take}>Leave aside<//></div></div>`;
}

export function FlagButton({ model }) {
  const note = model.flagNote;
  return html`${note === null ? null : html`<${Badge} kind="warn" title=${note}>left aside<//>`}
    <${Button} kind="small" label=${note === null ? "Leave this page aside" : "Take this page back"} title=${note === null ? "Leave this page aside: it needs no labels (f)" : "Take this page back (f)"}
      aria-pressed=${String(note !== null)} onclick=${() => toggleFlag(model)}>⚑<//>`;
}
