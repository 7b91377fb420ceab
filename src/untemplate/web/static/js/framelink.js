// The connection to a page in a sandboxed frame of another origin. We send data and orders, it sends numbers and texts.
import { get } from "./api.js";

let address; // of the frame server

export class FrameLink {
  constructor(holder, { pick, key, cursor, found }, label = "The page") {
    this.holder = holder;
    this.handlers = { pick, key, cursor, found };
    this.label = label;
    this.port = null;
    this.early = [];
  }

  // Shows a page; resolves when it is visible.
  async load(site, page) {
    address ??= (await get("frame")).address;
    const query = new URLSearchParams({ site, page: page.page, ...(page.quirks ? { quirks: "1" } : {}) });
    const frame = document.createElement("iframe");
    const wanted = { title: this.label, sandbox: "allow-scripts", referrerpolicy: "no-referrer", src: `${address}/show?${query}` };
    for (const [name, value] of Object.entries(wanted)) frame.setAttribute(name, value);
    this.close();
    return new Promise((ready) => {
      this.listener = (event) => {
        if (!frame.contentWindow || event.source !== frame.contentWindow || event.origin !== "null" || event.data?.kind !== "hello") return;
        removeEventListener("message", this.listener);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => (data.kind === "ready" ? this.ready(port1, ready) : this.handlers[data.kind]?.(data));
        frame.contentWindow.postMessage({ kind: "start", items: page.items, plain: page.plain }, "*", [port2]);
      };
      addEventListener("message", this.listener);
      this.holder.replaceChildren(frame);
    });
  }

  ready(port, resolve) {
    this.port = port;
    for (const order of this.early.splice(0)) port.postMessage(order);
    resolve();
  }

  order(kind, details = {}) {
    const order = { kind, ...details };
    if (this.port) this.port.postMessage(order);
    else this.early.push(order);
  }

  close() {
    removeEventListener("message", this.listener);
    this.port?.close();
    this.port = null;
    this.early = [];
  }
}

// What a click on the page means for an attribute: a text, an image or a link.
export function pickMode(attribute) {
  return attribute.type === "image" || attribute.type === "url" ? attribute.type : "text";
}
