// The libraries that draw the views, under the names that the views use. There is no build step: see ../vendor/README.md.
import htm from "../vendor/htm.js";
import { Fragment, h, render } from "../vendor/preact.js";

export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
export { batch, computed, effect, signal } from "../vendor/signals.js";
export { Fragment, render };

// Templates become elements one by one, and texts text nodes: no string ever becomes HTML.
export const html = htm.bind(h);
