// Small line charts as SVG: shares over time, one line per series.
import { html } from "./lib.js";
import { Dot, percent } from "./parts.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [560, 160, 48, 26];

// `moments`: ISO dates, the oldest first. `series`: [{name, hue, values}] with one value per moment, or null.
export function Chart({ title, moments, series }) {
  const times = moments.map((moment) => new Date(moment).getTime());
  const [first, last] = [times[0], times.at(-1)];
  const x = (index) => LEFT + 8 + (last > first ? (times[index] - first) / (last - first) : 0.5) * (WIDTH - LEFT - 24);
  const y = (value) => 8 + (1 - value) * (HEIGHT - BOTTOM - 12);
  const latest = series.map(({ name, values }) => `${name} ${percent(values.at(-1) ?? 0)}`).join(", ");
  return html`<figure class="chart">
    <figcaption class="row spread"><strong class="small">${title}</strong><span class="row tiny">${series.map(({ name, hue }) => html`<span class="row legend"><${Dot} hue=${hue} />${name}</span>`)}</span></figcaption>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${`${title}, latest: ${latest}`}>
      ${[0, 0.5, 1].map((value) => html`<line x1=${LEFT} x2=${WIDTH} y1=${y(value)} y2=${y(value)} class="grid" /><text x=${LEFT - 6} y=${y(value) + 4} class="axis" text-anchor="end">${percent(value)}</text>`)}
      ${[...new Set([0, moments.length - 1])].map((index) => html`<text x=${x(index)} y=${HEIGHT - 4} class="axis" text-anchor=${last === first ? "middle" : index === 0 ? "start" : "end"}>${short(moments[index])}</text>`)}
      ${series.map((one) => html`<${Line} ...${one} moments=${moments} x=${x} y=${y} />`)}</svg></figure>`;
}

function Line({ name, hue, values, moments, x, y }) {
  const points = values.map((value, index) => (value === null || value === undefined ? null : [x(index), y(value)]));
  const path = points.map((point, index) => point && `${points[index - 1] ? "L" : "M"}${point[0].toFixed(1)} ${point[1].toFixed(1)}`).filter(Boolean).join("");
  return html`<g class="line" style=${{ "--hue": hue }}><path d=${path} />${points.map((point, index) => point && html`
    <circle cx=${point[0]} cy=${point[1]} r="3.5"><title>${name}: ${percent(values[index])}, ${short(moments[index])}</title></circle>`)}</g>`;
}

function short(moment) {
  return new Date(moment).toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}
