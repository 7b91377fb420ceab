// A dialog to choose a part of a text by keyboard or touch.
import { html, useEffect, useRef } from "../lib.js";
import { Button } from "../parts.js";

export function PartDialog({ model }) {
  const { item, text } = model.part.value;
  const [box, field] = [useRef(), useRef()];
  useEffect(() => {
    box.current.showModal();
    field.current.focus();
    field.current.setSelectionRange(0, 0);
  }, []);
  const close = () => { model.part.value = null; };
  const take = () => {
    const { value, selectionStart, selectionEnd } = field.current;
    const part = value.slice(selectionStart, selectionEnd).trim();
    close();
    if (part) model.labelPart(item, part);
  };
  const onkey = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    take();
  };
  return html`<dialog ref=${box} aria-label="Label a part of the text" onclose=${close}><div class="stack"><h2>Select the part that is the value</h2>
    <textarea ref=${field} readonly rows="4" class="parttext" aria-label="The text; select the part that is the value" value=${text} onkeydown=${onkey}></textarea>
    <div class="row"><${Button} kind="primary" onclick=${take}>Label it<//><${Button} onclick=${close}>Cancel<//></div></div></dialog>`;
}
