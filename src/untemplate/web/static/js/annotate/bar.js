// The bar above the page: which page it is, what a click labels, a search, and what the page could load.
import { help } from "../keys.js";
import { html } from "../lib.js";
import { Button, Dot, hue } from "../parts.js";
import { ask, complain } from "../store.js";
import { FlagButton } from "./flag.js";

const REMOTE = "Load images and style sheets from their web sites. Your browser then sends requests to these sites, which see your address. Addresses of this machine and its network are refused.";

export function PageBar({ model }) {
  const { rows } = model.session.value;
  const page = model.page.value;
  const index = rows.findIndex((row) => row.page === page.page);
  return html`
    <${Button} kind="small" label="Previous page" title="Previous page (k)" onclick=${() => model.step(-1)}>‹<//>
    <span class="small number soft nowrap">${index >= 0 ? `${index + 1} of ${rows.length}` : "not in the sample"}</span>
    <${Button} kind="small" label="Next page" title="Next page (j)" onclick=${() => model.step(1)}>›<//>
    <span class="activename row small" title="What a click labels"><${Dot} hue=${hue(model.active.value)} />${model.attribute.name}</span>
    <span class="grow cut small" title=${page.url}>${rows[index]?.title || page.page}<span class="soft">${`  ${page.url}`}</span></span>
    <span class="cursor cut small soft" aria-live="polite">${model.nothingFound.value ? "not on this page" : model.cursor.value?.text ?? ""}</span>
    <input type="search" placeholder="Find on the page" aria-label="Find a text on the page"
      oninput=${(event) => model.frame.order("find", { text: event.target.value })} onkeydown=${(event) => typed(model, event)} />
    ${page.plain ? html`<${Button} kind="small" title="The page has no style sheets here. Go to its main content (m)" keys="m" onclick=${() => model.frame.order("main")}>Main content<//>` : null}
    ${model.embedded.total ? html`<${Button} kind="small" label="Embedded data" title="What the page tells programs: values to click (d)" keys="d"
      aria-pressed=${String(model.embedded.isOpen)} onclick=${() => model.embedded.toggle()}>Data <span class="tiny soft number">${model.embedded.total}</span><//>` : null}
    <${Loading} model=${model} />
    <${FlagButton} model=${model} />
    <${Button} kind="small" label="Keys" onclick=${help}>?<//>`;
}

// What the page could not load, and the switch that loads it from the web.
function Loading({ model }) {
  const { remote, missing } = model.page.value;
  const explain = () => ask("Images and style sheets", html`<div class="stack">
    <p>${missing ? `${missing} images and style sheets of this page did not come with it.` : "Everything this page needs came with it."}</p><p>${REMOTE}</p></div>`);
  return html`<span class="row nowrap"><label class="switch" title=${REMOTE}>
    <input type="checkbox" checked=${remote} onchange=${(event) => model.allowRemote(event.target.checked).catch(complain)} />Remote images and styles</label>
    ${missing && !remote ? html`<${Button} kind="quiet small" title="Images and style sheets that did not come with the page: what to do?" onclick=${explain}><span class="badge warn">${missing} missing</span><//>` : null}</span>`;
}

function typed(model, event) {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  const part = event.target.value.trim();
  const exactly = event.ctrlKey || event.metaKey;
  if (event.key === "Enter" && exactly && model.cursor.value) model.labelPart(model.cursor.value.item, part);
  else if (event.key === "Enter") model.frame.order("pick", { extend: event.shiftKey });
  event.target.value = "";
  model.nothingFound.value = false;
  event.target.blur();
}
