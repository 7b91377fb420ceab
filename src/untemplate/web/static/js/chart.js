// Small line charts as SVG: shares over time, one line per series.
import { h, svg } from "./dom.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [560, 160, 48, 26];

// `series`: [{name, hue, values}] with one value per moment, or null.
export function chart(title, moments, series) {
  const x = (index) => LEFT + 8 + (moments.length < 2 ? 0.5 : index / (moments.length - 1)) * (WIDTH - LEFT - 24);
  const y = (value) => 8 + (1 - value) * (HEIGHT - BOTTOM - 12);
  const grid = [0, 0.5, 1].flatMap((value) => [
    svg("line", { x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value), class: "grid" }),
    svg("text", { x: LEFT - 6, y: y(value) + 4, class: "axis", "text-anchor": "end" }, `${value * 100}%`)]);
  const dates = moments.length ? [0, moments.length - 1].filter((one, index, all) => all.indexOf(one) === index).map((index) =>
    svg("text", { x: x(index), y: HEIGHT - 4, class: "axis", "text-anchor": moments.length > 1 && index === 0 ? "start" : moments.length > 1 ? "end" : "middle" }, short(moments[index]))) : [];
  const lines = series.map(({ name, hue, values }) => {
    const points = values.map((value, index) => (value === null || value === undefined ? null : [x(index), y(value)]));
    const path = points.map((point, index) => point && `${points[index - 1] ? "L" : "M"}${point[0].toFixed(1)} ${point[1].toFixed(1)}`).filter(Boolean).join("");
    return svg("g", { class: "line", style: { "--hue": hue } }, svg("path", { d: path }),
      points.map((point, index) => point && svg("circle", { cx: point[0], cy: point[1], r: 3.5 },
        svg("title", {}, `${name}: ${Math.round(values[index] * 100)}%, ${short(moments[index])}`))));
  });
  const last = series.map(({ name, values }) => `${name} ${Math.round((values.at(-1) ?? 0) * 100)}%`).join(", ");
  return h("figure", { class: "chart" },
    h("figcaption", { class: "row spread" }, h("strong", { class: "small" }, title), h("span", { class: "row tiny" }, series.map(({ name, hue }) =>
      h("span", { class: "row legend" }, h("span", { class: "dot", style: { "--hue": hue }, "aria-hidden": "true" }), name)))),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}, latest: ${last}` }, grid, dates, lines));
}

function short(moment) {
  return new Date(moment).toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}
