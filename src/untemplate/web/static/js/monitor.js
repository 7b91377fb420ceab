// Monitor: how well the rules work over time, open alarms with the page before and after, and healing.
import { get, post } from "./api.js";
import { chart } from "./chart.js";
import { badge, button, count, h, hue, toast, when } from "./dom.js";
import { FrameLink } from "./framelink.js";
import { follow } from "./jobs.js";
import { address, complain } from "./main.js";

export async function open(outlet, { site, cluster, refresh }) {
  if (!site?.version) return outlet.replaceChildren(h("div", { class: "empty" }, "No rules to watch yet."));
  const state = await get("monitor", { site: site.site });
  const open_ = state.alarms.filter((one) => !one.cleared);
  const compared = h("div", { class: "stack" });
  outlet.replaceChildren(h("div", { class: "column" },
    h("div", { class: "row spread" }, h("h1", {}, "Monitor"), open_.length ? badge(count(open_.length, "open alarm"), "bad") : badge("no alarms", "good")),
    runNow(site.site, refresh),
    alarms(site.site, open_, state, compared), compared,
    charts(state, cluster),
    state.heals.length ? heals(site.site, state.heals) : null));
  return {};
}

function runNow(site, refresh) {
  const field = h("input", { type: "text", class: "grow", placeholder: "folder, WARC file, … with fresh pages; leave empty to fetch the watched pages", "aria-label": "Where fresh pages are" });
  field.value = sessionStorage.getItem(`fresh/${site}`) ?? "";
  const box = h("div", { class: "row" });
  const start = async (kind, summary) => {
    sessionStorage.setItem(`fresh/${site}`, field.value);
    try {
      const job = await follow(await post(kind, { site, source: field.value.trim() || null }), box);
      toast(summary(job.result));
      refresh();
    } catch (error) {
      complain(error);
    }
  };
  return h("section", { class: "card stack", "aria-label": "Watch or heal the site now" },
    h("div", { class: "row" }, field,
      button("Watch", () => start("watch", (result) => (result.alarms ? `${count(result.alarms, "alarm")}.` : "All rules still work.")), { kind: "primary" }),
      button("Heal", () => start("heal", (result) => `Version ${result.version}: ${count(result.healed.length, "rule")} learned again, ${result.lost.length} lost.`))), box);
}

function alarms(site, list, state, compared) {
  if (!list.length) return state.runs.length ? null : h("div", { class: "card empty" }, "This site has not been watched yet.");
  return h("section", { class: "card stack", "aria-label": "Alarms" }, h("h2", {}, "Alarms"), h("div", { class: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Template", "What", "Expected", "Seen", "Since", ""].map((name) => h("th", {}, name)))),
    h("tbody", {}, grouped(list).map(([one, tests]) => h("tr", {},
      h("td", {}, one.cluster), h("td", {}, h("strong", {}, one.attribute ?? "structure"), h("div", { class: "tiny soft" }, `${tests.join(", ")} · ${count(one.pages.length, "page")}`)),
      h("td", {}, one.expected), h("td", {}, one.seen), h("td", {}, when(one.since ?? one.raised)),
      h("td", {}, one.pages.length ? button("Before and after", () => compare(site, one, state, compared).catch(complain), { kind: "small" }) : null)))))));
}

// One row per attribute, even if several of its tests fail.
function grouped(list) {
  const groups = new Map();
  for (const alarm of list) {
    const key = `${alarm.cluster}/${alarm.attribute}`;
    if (!groups.has(key)) groups.set(key, [alarm, []]);
    groups.get(key)[1].push(alarm.test);
  }
  return [...groups.values()];
}

async function compare(site, alarm, state, box) {
  const page = alarm.pages[0];
  const { before, after } = await get("compare", { site, page });
  const sides = [["Before", before], ["After", after]].map(([title, side]) => ({ title, side, holder: h("div", { class: "frame" }) }));
  box.replaceChildren(h("section", { class: "card stack", "aria-label": "Before and after" },
    h("header", {}, h("h2", {}, "Before and after"), h("span", { class: "row" }, h("span", { class: "small soft" }, page), h("a", { class: "button small", href: address("annotate", { site, cluster: alarm.cluster, page }) }, "Label it"))),
    h("div", { class: "sides" }, sides.map(({ title, side, holder }) => h("div", { class: "stack" },
      h("div", { class: "row spread small" }, h("strong", {}, title), h("span", {}, found(side, alarm.attribute))), holder)))));
  box.scrollIntoView({ behavior: "smooth", block: "start" });
  for (const { title, side, holder } of sides) {
    if (!side) {
      holder.replaceChildren(h("div", { class: "empty" }, "The catalog does not have this page from that time."));
      continue;
    }
    const frame = new FrameLink(holder, { pick() {}, key() {}, cursor() {}, label: `${title}: the page` });
    await frame.load(site, side.page);
    const marks = side.marks.filter((mark) => !alarm.attribute || mark.attribute === alarm.attribute);
    frame.order("marks", { marks: marks.map((mark) => ({ ...mark, hue: hue(state.attributes.indexOf(mark.attribute)), name: mark.attribute })) });
    if (marks.length) frame.order("reveal", { items: marks[0].items });
  }
}

function found(side, attribute) {
  const texts = (side?.marks ?? []).filter((mark) => mark.attribute === attribute).map((mark) => mark.text);
  return texts.length ? texts.join(" · ") : attribute ? badge("nothing found", "bad") : "";
}

function charts(state, cluster) {
  const own = state.runs.map((one) => one.clusters.find((figures) => figures.cluster === cluster?.cluster) ?? null);
  if (!own.some(Boolean)) return null;
  const moments = state.runs.map((one) => one.finished);
  return h("section", { class: "card stack", "aria-label": "Over time" }, h("header", {}, h("h2", {}, `${cluster.cluster} over time`), h("span", { class: "small soft" }, count(state.runs.length, "run"))),
    h("div", { class: "charts" },
      chart("Pages that look like the template", moments, [{ name: "coverage", hue: 265, values: own.map((one) => one?.coverage ?? null) }]),
      chart("Pages with a value", moments, state.attributes.map((name, index) => ({ name, hue: hue(index), values: own.map((one) => one?.fill[name] ?? null) })))));
}

function heals(site, list) {
  return h("section", { class: "card stack", "aria-label": "Healed" }, h("h2", {}, "Healed"), [...list].reverse().map((one) => h("article", { class: "stack small" },
    h("div", { class: "row" }, h("strong", {}, when(one.finished)), one.version ? h("a", { href: address("rules", { site, version: String(one.version) }) }, `version ${one.version}`) : null,
      badge(`${one.healed.length} learned again`, "good"), one.lost.length ? badge(`${one.lost.length} lost`, "bad") : null),
    h("ul", {}, one.healed.map((repair) => h("li", {}, `${repair.cluster}, ${repair.attribute}: ${repair.how}`)),
      one.lost.map((loss) => h("li", {}, `${loss.cluster}, ${loss.attribute} is lost: ${loss.why}`))))));
}
