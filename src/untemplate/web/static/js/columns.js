// Widths of the columns of a table that people change by dragging, or with the arrow keys.
import { html, useState } from "./lib.js";

const LIMITS = { least: 60, most: 900, step: 20, usual: 200 }; // pixels

// The widths of the columns of a table, kept under a name in this browser: `width(column)` and `set(column, width)`.
export function useWidths(name) {
  const key = `widths/${name}`;
  const [widths, setWidths] = useState(() => JSON.parse(localStorage.getItem(key) ?? "{}"));
  const set = (column, width) => {
    const kept = { ...widths, [column]: width === null ? undefined : Math.round(Math.min(Math.max(width, LIMITS.least), LIMITS.most)) };
    setWidths(kept);
    localStorage.setItem(key, JSON.stringify(kept));
  };
  return { width: (column) => widths[column], set };
}

// The style of what is inside the cells of a column.
export function widthStyle(width) {
  return width ? { width: `${width}px`, maxWidth: `${width}px` } : {};
}

// A handle at the right edge of a heading.
export function Resizer({ column, widths }) {
  const width = widths.width(column);
  const measure = (element) => element.closest("th").getBoundingClientRect().width;
  const drag = (event) => {
    event.preventDefault();
    event.stopPropagation();
    const handle = event.currentTarget;
    const [start, before] = [event.clientX, measure(handle)];
    const move = ({ clientX }) => widths.set(column, before + clientX - start);
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", () => handle.removeEventListener("pointermove", move), { once: true });
  };
  const onkey = (event) => {
    const by = { ArrowLeft: -LIMITS.step, ArrowRight: LIMITS.step }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    widths.set(column, (width ?? measure(event.currentTarget)) + by);
  };
  return html`<span class="resizer" role="separator" tabindex="0" aria-orientation="vertical" aria-label=${`Width of ${column}`} aria-valuenow=${width ?? LIMITS.usual} aria-valuemin=${LIMITS.least}
    aria-valuemax=${LIMITS.most} title="Drag to change the width; double click for the usual one" onpointerdown=${drag} onkeydown=${onkey} ondblclick=${() => widths.set(column, null)}></span>`;
}
