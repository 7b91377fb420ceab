// The JSON API, and the changes that other windows make.

export class Refused extends Error {}

async function ask(method, path, parameters, body) {
  const query = new URLSearchParams(parameters).toString();
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(`/api/${path}${query ? `?${query}` : ""}`, options);
  } catch {
    throw new Refused("The server does not answer. Is untemplate still running?");
  }
  if (response.ok) return response.json();
  const answer = await response.json().catch(() => ({}));
  throw new Refused(typeof answer.detail === "string" ? answer.detail : `The server answered ${response.status}.`);
}

export const get = (path, parameters = {}) => ask("GET", path, parameters);
export const put = (path, body, parameters = {}) => ask("PUT", path, parameters, body);
export const post = (path, body, parameters = {}) => ask("POST", path, parameters, body);

export function onChange(notify) {
  const events = new EventSource("/api/changes");
  let broken = false;
  events.onmessage = ({ data, lastEventId }) => notify(data, Number(lastEventId));
  events.onerror = () => { broken = true; };
  events.onopen = () => {
    if (broken) notify(null, Infinity); // changes may have been missed
    broken = false;
  };
}
