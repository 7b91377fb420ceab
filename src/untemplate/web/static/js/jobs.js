// Jobs on the server: poll until they are done, and show their progress.
import { get } from "./api.js";
import { h } from "./dom.js";

export async function follow(job, box) {
  let now = job;
  for (let wait = 100; now.state === "running"; wait = Math.min(wait * 1.3, 1500)) {
    const share = now.total ? now.pages / now.total : null;
    box.replaceChildren(h("progress", { max: 1, ...(share === null ? {} : { value: share }), "aria-label": now.kind }),
      h("span", { class: "small soft number" }, `${now.pages.toLocaleString("en")}${now.total ? ` of ${now.total.toLocaleString("en")}` : ""} pages`));
    await new Promise((done) => setTimeout(done, wait));
    now = await get("job", { id: now.id });
  }
  box.replaceChildren();
  if (now.state === "failed") throw new Error(now.problem);
  return now;
}
