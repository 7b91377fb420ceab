// What to extract: the attributes of a schema, written when a site is added, and changed at any time after.
import { get, put } from "./api.js";
import { html, useState } from "./lib.js";
import { Badge, Button, useAnswer } from "./parts.js";
import { ask, closeDialog, complain, refresh, say } from "./store.js";

const COLUMNS = ["Name", "Type", "Every page", "Several", "Called on pages", "What it is"];
const NEW = { name: "", type: "text", mandatory: false, many: false, captions: [], description: "" };

// The attributes as a table of fields. `change` gets all of them after each edit.
export function AttributeTable({ attributes, types, change }) {
  const edit = (index, edited) => change(attributes.map((one, place) => (place === index ? { ...one, ...edited } : one)));
  const move = (index) => change([...attributes.slice(0, index - 1), attributes[index], attributes[index - 1], ...attributes.slice(index + 1)]);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Attributes"><table class="attributes">
      <thead><tr>${COLUMNS.map((text) => html`<th key=${text} scope="col">${text}</th>`)}<th scope="col"><span class="unseen">Actions</span></th></tr></thead>
      <tbody>${attributes.map((one, index) => html`<${AttributeRow} key=${index} number=${index + 1} attribute=${one} types=${types} edit=${(edited) => edit(index, edited)}
        remove=${() => change(attributes.filter((_, place) => place !== index))} rise=${index ? () => move(index) : null} />`)}</tbody></table></div>
    <div class="row"><${Button} kind="small" onclick=${() => change([...attributes, NEW])}>Add an attribute<//><${Badge}>${attributes.length}<//></div>`;
}

function AttributeRow({ number, attribute, types, edit, remove, rise }) {
  const names = (text) => text.split(",").map((name) => name.trim()).filter(Boolean);
  return html`<tr>
    <td><input type="text" aria-label=${`Name of attribute ${number}`} value=${attribute.name} oninput=${(event) => edit({ name: event.target.value })} /></td>
    <td><select aria-label=${`Type of attribute ${number}`} onchange=${(event) => edit({ type: event.target.value })}>${types.map((type) => html`<option key=${type} selected=${type === attribute.type}>${type}</option>`)}</select></td>
    <td class="check"><input type="checkbox" aria-label=${`Attribute ${number} is mandatory`} checked=${attribute.mandatory} onchange=${(event) => edit({ mandatory: event.target.checked })} /></td>
    <td class="check"><input type="checkbox" aria-label=${`Attribute ${number} has several values`} checked=${attribute.many} onchange=${(event) => edit({ many: event.target.checked })} /></td>
    <td><input type="text" aria-label=${`What pages call attribute ${number}`} placeholder="Tel, Phone" value=${attribute.captions.join(", ")} onchange=${(event) => edit({ captions: names(event.target.value) })} /></td>
    <td><input type="text" aria-label=${`What attribute ${number} is`} placeholder="for people and models" value=${attribute.description} oninput=${(event) => edit({ description: event.target.value })} /></td>
    <td><div class="row nowrap"><${Button} kind="quiet small" label=${`Move attribute ${number} up`} disabled=${!rise} onclick=${rise}>↑<//>
      <${Button} kind="quiet small" label=${`Remove attribute ${number}`} onclick=${remove}>×<//></div></td></tr>`;
}

// Opens the schema of a site in a dialog. `changed` is called when it was changed.
export function editSchema(site, changed) {
  ask("Attributes", html`<${SchemaEditor} site=${site} changed=${changed} />`, "wide");
}

function SchemaEditor({ site, changed }) {
  const answer = useAnswer(() => get("schema", { site }), [site]);
  return answer ? html`<${SchemaForm} site=${site} changed=${changed} answer=${answer} />` : html`<p class="soft small">Reading the attributes …</p>`;
}

function SchemaForm({ site, changed, answer }) {
  const [attributes, change] = useState(answer.definition.attributes.map((one) => ({ ...one, old_name: one.name })));
  const [isBusy, setBusy] = useState(false);
  const kept = new Set(attributes.map((one) => one.old_name));
  const removed = answer.definition.attributes.filter((one) => !kept.has(one.name)).map((one) => one.name);
  const save = async () => {
    setBusy(true);
    try {
      const { version } = await put("schema", { attributes: attributes.map(({ old_name = null, ...one }) => ({ ...one, old_name })) }, { site });
      say(`Attributes changed: the rules are version ${version}.`);
      closeDialog();
      changed();
      refresh();
    } catch (error) {
      complain(error);
      setBusy(false);
    }
  };
  return html`<div class="stack"><p class="small soft">Labels and rules stay with an attribute that gets another name. One with another type, or with several values, is learned again.</p>
    <${AttributeTable} attributes=${attributes} types=${answer.types} change=${change} />
    ${removed.length ? html`<div class="notice bad small">Removed: ${removed.join(", ")}. The labels stay in the catalog, and count again if the attribute comes back.</div>` : null}
    <div class="row"><${Button} kind="primary" disabled=${isBusy || !attributes.length || attributes.some((one) => !one.name.trim())} onclick=${save}>${isBusy ? "Learning …" : "Save attributes"}<//></div></div>`;
}
