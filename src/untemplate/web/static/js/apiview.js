// The list of API calls, made from its OpenAPI description.
import { get } from "./api.js";
import { badge, h } from "./dom.js";

export async function open(outlet) {
  const { info, paths } = await get("openapi.json");
  const calls = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, call]) => ({ path, method, ...call })));
  outlet.replaceChildren(h("div", { class: "column" }, h("h1", {}, "API"),
    info.description.split("\n\n").map((text) => h("p", { class: "soft" }, text.replaceAll("`", ""))),
    h("p", {}, h("a", { href: "/api/openapi.json" }, "The OpenAPI description")),
    h("section", { class: "card stack" }, calls.map(({ path, method, summary, description, parameters }) => h("article", { class: "stack small" },
      h("div", { class: "row" }, badge(method.toUpperCase()), h("code", {}, path), h("span", { class: "soft" }, (parameters ?? []).map((one) => one.name).join(", "))), h("p", {}, description ?? summary))))));
  return {};
}
