// A small picture of a page: the page itself in its sandboxed frame, made small, from its main content on: the pages of a
// site begin alike. It is drawn when it comes into view.
import { get } from "./api.js";
import { FrameLink } from "./framelink.js";
import { html, useEffect, useRef } from "./lib.js";

const ITEMS = 1500; // the beginning of a page is enough for a picture

export function Picture({ site, page }) {
  const holder = useRef();
  useEffect(() => {
    if (!page) return undefined;
    const frame = new FrameLink(holder.current, {}, "A picture of the page");
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watcher.disconnect();
      get("page", { site, page, limit: ITEMS }).then((found) => frame.load(site, found)).then(() => frame.order("main")).catch(() => {}); // without it the card is complete, too
    });
    watcher.observe(holder.current);
    return () => {
      watcher.disconnect();
      frame.close();
    };
  }, [site, page]);
  return html`<div class="picture" inert aria-hidden="true" ref=${holder}></div>`;
}
