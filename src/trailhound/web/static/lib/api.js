// Speaks to the server with the app's token, which lives in this browser's storage for this address.

const KEY = "trailhound-token";

/** What the server said instead of an answer. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Takes the token out of the address, so that it stays in no history. */
export function takeToken() {
  const found = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (found) {
    setToken(decodeURIComponent(found[1]));
    history.replaceState(null, "", `${location.pathname}#/`);
  }
}

export function setToken(token) {
  localStorage.setItem(KEY, token.trim());
}

function authorization() {
  return { Authorization: `Bearer ${localStorage.getItem(KEY) ?? ""}` };
}

async function ask(method, address, body) {
  const headers = authorization();
  const isFile = body instanceof Blob;
  if (body !== undefined) headers["Content-Type"] = isFile ? "application/octet-stream" : "application/json";
  let answer;
  try {
    answer = await fetch(address, { method, headers, body: isFile ? body : body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  } catch {
    throw new Refused(0, "The app does not answer. Is 'trailhound serve' still running?");
  }
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    throw new Refused(answer.status, told.error ?? `The app answered ${answer.status}.`);
  }
  return answer;
}

/** Fills names into a path: path`/api/topics/${name}`. */
export function path(strings, ...names) {
  return strings.reduce((whole, part, at) => whole + encodeURIComponent(names[at - 1]) + part);
}

/** An address with a query; what is empty is left out. */
export function query(address, values) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") parameters.append(name, each);
    }
  }
  const text = parameters.toString();
  return text ? `${address}?${text}` : address;
}

export const get = async (address) => (await ask("GET", address)).json();
export const post = async (address, body = {}) => (await ask("POST", address, body)).json();
export const put = async (address, body) => (await ask("PUT", address, body)).json();
export const upload = async (address, file) => (await ask("POST", address, file)).json();
export const remove = async (address) => (await ask("DELETE", address)).json();
export const text = async (address) => (await ask("GET", address)).text();

/** Saves what an address gives as a file. */
export async function download(address, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await (await ask("GET", address)).blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Calls heard(happening) for all that happens while the page is looked at. A sleeping tab costs nothing. */
export function listen(heard) {
  let control = null;
  async function run() {
    control?.abort();
    const mine = control = new AbortController();
    try {
      const answer = await fetch("/api/happenings", { headers: authorization(), signal: mine.signal, cache: "no-store" });
      if (!answer.ok) return;
      await readEvents(answer.body, heard);
    } catch { /* it was ended, or the server went away: tried again */ }
    if (!mine.signal.aborted) setTimeout(() => !mine.signal.aborted && run(), 2000);
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) control?.abort();
    else { heard({ kind: "awake", topic: "", text: "" }); run(); }
  });
  if (!document.hidden) run();
}

async function readEvents(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) heard(JSON.parse(part.slice(6)));
  }
}
