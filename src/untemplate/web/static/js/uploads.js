// Files and folders that people drop or choose: they are sent to the server one by one, a few at a time.
import { Refused } from "./api.js";

const AT_ONCE = 4;

// The files that were dropped, with their paths; folders are read with all that is in them.
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const found = [];
  for (const entry of entries) await collect(entry, found);
  return found;
}

async function collect(entry, found) {
  if (entry.isFile) {
    found.push({ path: entry.fullPath.replace(/^\//, ""), file: await new Promise((done, failed) => { entry.file(done, failed); }) });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => { reader.readEntries(done, failed); });
    if (!some.length) return;
    for (const one of some) await collect(one, found);
  }
}

// The files of an input, with their paths inside the chosen folder.
export function chosenFiles(input) {
  return [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

// Sends files to the server and returns the name of the upload. `tell` gets the number of files that are there.
export async function sendFiles(files, tell) {
  const upload = crypto.randomUUID();
  const waiting = [...files];
  let sent = 0;
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const query = new URLSearchParams({ upload, path: next.path });
      const answer = await fetch(`/api/upload?${query}`, { method: "PUT", body: next.file });
      if (!answer.ok) throw new Refused((await answer.json().catch(() => ({}))).detail ?? `${next.path} was not accepted.`);
      sent += 1;
      tell(sent);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return upload;
}
