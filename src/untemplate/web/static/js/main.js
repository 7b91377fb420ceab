// Starts the application: the address decides what it shows, and the server tells what changed.
import { App } from "./app.js";
import { onChange } from "./api.js";
import { followJobs } from "./jobs.js";
import { html, render } from "./lib.js";
import { change, complain, place, refresh } from "./store.js";

const PAUSE = 200; // milliseconds to wait for further changes
let later;

addEventListener("hashchange", refresh);
addEventListener("unhandledrejection", ({ reason }) => complain(reason));
onChange((site, number) => {
  change.value = { site, number };
  followJobs();
  if (place.value.name === "annotate") return; // it shows changes itself
  clearTimeout(later);
  later = setTimeout(refresh, PAUSE);
});
render(html`<${App} />`, document.body);
refresh();
followJobs();
