// The connection to a page in a sandboxed frame of another origin. We send data and orders, it sends numbers and texts.
import { get } from "./api.js";
import { h } from "./dom.js";

let address; // of the frame server

export class FrameLink {
  constructor(holder, { pick, key, cursor, label = "The page" }) {
    this.holder = holder;
    this.handlers = { pick, key, cursor };
    this.label = label;
    this.port = null;
    this.early = [];
  }

  // Shows a page; resolves when it is visible.
  async load(site, page) {
    address ??= (await get("frame")).address;
    const query = new URLSearchParams({ site, ...(page.quirks ? { quirks: "1" } : {}) });
    const frame = h("iframe", { title: this.label, sandbox: "allow-scripts", referrerpolicy: "no-referrer", src: `${address}/show?${query}` });
    this.close();
    this.frame = frame;
    return new Promise((ready) => {
      this.listener = (event) => {
        if (event.source !== frame.contentWindow || event.origin !== "null" || event.data?.kind !== "hello") return;
        removeEventListener("message", this.listener);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => (data.kind === "ready" ? this.ready(port1, ready) : this.handlers[data.kind]?.(data));
        frame.contentWindow.postMessage({ kind: "start", items: page.items }, "*", [port2]);
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
