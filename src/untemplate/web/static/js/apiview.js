// The list of API calls, made from its OpenAPI description.
import { get } from "./api.js";
import { html } from "./lib.js";
import { Badge, useAnswer } from "./parts.js";

export function ApiView() {
  const description = useAnswer(() => get("openapi.json"), []);
  if (!description) return null;
  const { info, paths } = description;
  const calls = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, call]) => ({ path, method, ...call })));
  return html`<div class="column"><h1>API</h1>
    ${info.description.split("\n\n").map((text) => html`<p class="soft">${text.replaceAll("`", "")}</p>`)}
    <p><a href="/api/openapi.json">The OpenAPI description</a></p>
    <section class="card stack">${calls.map(({ path, method, summary, description: text, parameters }) => html`<article class="stack small">
      <div class="row"><${Badge}>${method.toUpperCase()}<//><code>${path}</code><span class="soft">${(parameters ?? []).map((one) => one.name).join(", ")}</span></div><p>${text ?? summary}</p></article>`)}</section></div>`;
}
