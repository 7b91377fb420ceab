// The only script in the frame of a page. Our own document sends it what to show, and it sends back what was clicked.
import { build } from "./build.js";
import { Marks } from "./marks.js";
import { Picker } from "./picker.js";

const parentOrigin = document.querySelector("script").dataset.parent;

function start(items, plain, port) {
  const scene = build(items, plain);
  const marks = new Marks(scene);
  const tell = (message) => port.postMessage(message);
  const picker = new Picker(scene, marks, tell);
  const orders = {
    marks: ({ marks: wanted }) => marks.show(wanted),
    mode: ({ mode, hue, many, name }) => picker.use(mode, hue, many, name),
    reveal: ({ items: wanted }) => marks.reveal(wanted),
    move: ({ by }) => picker.move(by),
    find: ({ text }) => picker.find(text),
    pick: ({ extend }) => picker.pick(extend),
    leave: () => picker.leave(),
    main: () => marks.revealMain(),
  };
  port.onmessage = ({ data }) => orders[data.kind]?.(data);
  for (const type of ["submit", "dragstart", "auxclick", "contextmenu"]) {
    document.addEventListener(type, (event) => event.preventDefault(), true);
  }
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (key === "Tab" || (key === "c" && (ctrlKey || metaKey))) return;
    event.preventDefault();
    tell({ kind: "key", key, ctrlKey, metaKey, altKey, shiftKey });
  }, true);
  requestAnimationFrame(() => tell({ kind: "ready" }));
}

addEventListener("message", (event) => {
  if (event.source !== parent || event.origin !== parentOrigin || event.data?.kind !== "start") return;
  start(event.data.items, event.data.plain, event.ports[0]);
}, { once: true });

parent.postMessage({ kind: "hello" }, parentOrigin);
