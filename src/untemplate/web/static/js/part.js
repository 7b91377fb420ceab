// A dialog to choose a part of a text by keyboard or touch.
import { button, h } from "./dom.js";

export function choosePart(text, choose) {
  const squeezed = text.split(/\s+/).filter(Boolean).join(" ");
  const field = h("textarea", { readonly: true, rows: "4", class: "parttext", "aria-label": "The text; select the part that is the value" });
  field.value = squeezed;
  const take = () => {
    const part = field.value.slice(field.selectionStart, field.selectionEnd).trim();
    shown.close();
    if (part) choose(part);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    take();
  });
  const shown = h("dialog", { "aria-label": "Label a part of the text", onclose: () => shown.remove() },
    h("div", { class: "stack" }, h("h2", {}, "Select the part that is the value"), field,
      h("div", { class: "row" }, button("Label it", take, { kind: "primary" }), button("Cancel", () => shown.close()))));
  document.body.append(shown);
  shown.showModal();
  field.focus();
  field.setSelectionRange(0, 0);
}
