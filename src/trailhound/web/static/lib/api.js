// Speaks to the server with the app's token, which lives in this browser's storage for this address.

const KEY = "trailhound-token";
const SOON_MILLISECONDS = 300, LATER_MILLISECONDS = 2000;
/** Twice as long as the server is ever silent. */
const SILENT_MILLISECONDS = 45_000;

/** What the server said instead of an answer. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Takes the token out of the address, so that it stays in no history; whether there was one. */
export function takeToken() {
  const found = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (!found) return false;
  setToken(decoded(found[1]));
  history.replaceState(null, "", `${location.pathname}#/`);
  return true;
}

export function setToken(token) {
  localStorage.setItem(KEY, token.trim());
}

export function hasToken() {
  return Boolean(localStorage.getItem(KEY));
}

/** What a part of an address says; as it stands where it is no proper one, such as "100%". */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
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

/** Calls heard(happening) for all that happens while the page is looked at. A sleeping tab costs nothing.
 *  After a pause it hears {kind: "awake", wasAway}: whether the server was away, or the page only not looked at.
 *  answered(status) is called whenever the server was asked: 0 when it does not answer.
 *  Returns a function that begins anew, with another token for example. */
export function listen(heard, answered) {
  let control = null, missedSome = document.hidden, wasAway = false;
  async function run() {
    control?.abort();
    const mine = control = new AbortController();
    const { status, body } = await fetch("/api/happenings", { headers: authorization(), signal: mine.signal, cache: "no-store" })
      .catch(() => ({ status: 0, body: null }));
    if (mine.signal.aborted) return;
    answered(status);
    if (status === 401) return;  // until there is another token
    if (status === 200) {
      if (missedSome) heard({ kind: "awake", topic: "", text: "", wasAway });
      missedSome = true;
      wasAway = false;
      await readEvents(body, heard).catch(() => {});
    }
    wasAway ||= !mine.signal.aborted;
    // What has broken off is tried again soon, what does not answer later.
    setTimeout(() => !mine.signal.aborted && run(), status === 200 ? SOON_MILLISECONDS : LATER_MILLISECONDS);
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) control?.abort();
    else run();
  });
  if (!document.hidden) run();
  return run;
}

/** What is told, until the stream ends or falls silent: the server says now and then that it is there. */
async function readEvents(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const patience = setTimeout(() => reader.cancel(), SILENT_MILLISECONDS);
    const { value, done } = await reader.read().finally(() => clearTimeout(patience));
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) heard(JSON.parse(part.slice(6)));
  }
}
