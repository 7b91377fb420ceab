// Export: all records as a file, the labels, and a link to the API.
import { get, post } from "./api.js";
import { button, count, h, toast } from "./dom.js";
import { follow } from "./jobs.js";
import { address, complain } from "./main.js";

const FORMATS = [["csv", "CSV", "for spreadsheets"], ["jsonl", "JSONL", "one record per line, for programs"], ["parquet", "Parquet", "for data frames and warehouses"]];

export async function open(outlet, { site, refresh }) {
  if (!site?.version) return outlet.replaceChildren(h("div", { class: "empty" }, "Nothing to export yet."));
  const source = await get("export/source", { site: site.site });
  const box = h("div", { class: "row", role: "status" });
  const run = async (format) => {
    try {
      if (!source.saved && format !== "labels") {
        toast(`Rules saved as version ${(await post("rules/save", { site: site.site })).version}.`);
        source.saved = true;
      }
      const job = await follow(await post("export", { site: site.site, format }), box);
      const link = h("a", { class: "button primary", download: true, href: `/api/job/file?id=${job.id}` }, "Download again");
      box.replaceChildren(link, h("span", { class: "small soft" }, job.result.records === undefined ? "" : count(job.result.records, "record")));
      h("a", { download: true, href: `/api/job/file?id=${job.id}` }).click();
    } catch (error) {
      complain(error);
    }
  };
  outlet.replaceChildren(h("div", { class: "column" },
    h("h1", {}, "Export"),
    h("section", { class: "card stack", "aria-label": "Records" }, h("h2", {}, "Records"),
      h("p", { class: "soft" }, source.source ? ["All pages of ", h("code", { class: "wrap" }, source.source)] : "The pages in the catalog; their source does not exist any more.",
        source.saved ? `, with the rules of version ${source.version}.` : ", with the rules learned from the labels, which are saved as a version first."),
      h("div", { class: "row" }, FORMATS.map(([format, name, what]) => button([name, h("span", { class: "tiny soft" }, what)], () => run(format), { kind: "tall" }))), box),
    h("section", { class: "card stack", "aria-label": "Labels" }, h("h2", {}, "Labels"),
      h("p", { class: "soft" }, `${count(site.labels, "label")}, as a file that untemplate learn reads.`), h("div", { class: "row" }, button("Labels, JSONL", () => run("labels")))),
    h("section", { class: "card stack", "aria-label": "API" }, h("h2", {}, "API"),
      h("p", { class: "soft" }, "Everything these pages do, programs can do too: ", h("a", { href: address("api") }, "the API"), ".")) ));
  return { changed: (name) => name === site.site && refresh() };
}
