// The JSON API, the changes that other windows make, and whether the server is there.
import { signal } from "./lib.js";

const SLOW = 4000; // milliseconds after which a person is told that the server is still working

export class Refused extends Error {}

// "up"; "busy": it has not answered for a while; "down": it does not answer; "restarted": it has another token now.
export const connection = signal("up");
let slow = 0;

async function ask(method, path, parameters, body) {
  const query = new URLSearchParams(parameters).toString();
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  const response = await timed(fetch(`/api/${path}${query ? `?${query}` : ""}`, options)).catch(() => {
    connection.value = "down";
    throw new Refused("The server does not answer. Is untemplate still running?");
  });
  if (connection.value === "down") connection.value = "up";
  if (response.ok) return response.json();
  if (response.status === 401) connection.value = "restarted";
  const answer = await response.json().catch(() => ({}));
  throw new Refused(typeof answer.detail === "string" ? answer.detail : `The server answered ${response.status}.`);
}

// Tells people that the server is busy while it takes long for an answer.
async function timed(answer) {
  let counted = false;
  const timer = setTimeout(() => {
    counted = true;
    slow += 1;
    if (connection.value === "up") connection.value = "busy";
  }, SLOW);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
    if (counted) slow -= 1;
    if (!slow && connection.value === "busy") connection.value = "up";
  }
}

export const get = (path, parameters = {}) => ask("GET", path, parameters);
export const put = (path, body, parameters = {}) => ask("PUT", path, parameters, body);
export const post = (path, body, parameters = {}) => ask("POST", path, parameters, body);

// Calls `notify` with the site that changed and the number of the change; null if changes may have been missed.
export function onChange(notify) {
  const events = new EventSource("/api/changes");
  let broken = false;
  events.onmessage = ({ data, lastEventId }) => notify(data, Number(lastEventId));
  events.onerror = () => {
    broken = true;
    connection.value = "down";
    if (events.readyState === EventSource.CLOSED) get("frame").catch(() => {}).finally(() => setTimeout(() => onChange(notify), 2000));
  };
  events.onopen = () => {
    connection.value = "up";
    if (broken) notify(null, Infinity);
    broken = false;
  };
}
