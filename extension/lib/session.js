// The session being recorded: its pages, its marks, and whether it is worth learning from.
import { enqueue, rewriteWaiting } from "./queue.js";
import { withoutFragment } from "./trail.js";

export const ENOUGH_PAGES = 10;
export const ENOUGH_TARGETS = 2;

export async function currentSession() {
  return (await chrome.storage.local.get("session")).session ?? null;
}

export async function saveSession(session) {
  await chrome.storage.local.set({ session });
}

export async function excludedHosts() {
  return (await chrome.storage.local.get("excluded")).excluded ?? [];
}

/** A name that sorts by time and that no other browser chooses. */
function sessionId(now) {
  const random = [...crypto.getRandomValues(new Uint8Array(6))];
  const stamp = now.toISOString().slice(0, 19).replace(/[-:]/g, "").toLowerCase();
  return `${stamp}-${random.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export function newSession(topic) {
  return { id: sessionId(new Date()), topic, state: "recording", pages: {}, first: null, forgotten: [] };
}

/** Adds a shown page and hands its visit to the queue. */
export async function recordVisit(session, visit, fingerprint) {
  const page = session.pages[visit.url] ?? { title: "", useful: false, framed: visit.frame_of ?? "" };
  if (!visit.frame_of) page.framed = "";
  page.title = visit.title || page.title;
  const sent = { event: "visit", ...visit };
  if (fingerprint && page.fingerprint === fingerprint) delete sent.html;
  session.pages[visit.url] = page;
  session.first ??= visit.url;
  for (const name of Object.keys(sent)) if (sent[name] === null || sent[name] === "") delete sent[name];
  const kept = await enqueue({ session: session.id, topic: session.topic, event: sent });
  // What found no room is sent when the page is shown again.
  if (sent.html && kept) page.fingerprint = fingerprint;
}

export async function recordMark(session, url, useful) {
  const page = session.pages[url];
  if (!page || page.useful === useful) return;
  page.useful = useful;
  const event = { event: "mark", time: Date.now() / 1000, url, useful: useful ? true : null };
  await enqueue({ session: session.id, topic: session.topic, event });
}

export async function recordSubmit(session) {
  session.state = "submitted";
  const event = { event: "submit", time: Date.now() / 1000 };
  await enqueue({ session: session.id, topic: session.topic, event });
}

/** Removes a page from here, from the queue, and from what the collector has. */
export async function forgetPage(session, url) {
  const plain = withoutFragment(url);
  const isThis = (other) => Boolean(other) && withoutFragment(other) === plain;
  for (const [known, page] of Object.entries(session.pages)) {
    if (isThis(known) || isThis(page.framed)) delete session.pages[known];
  }
  if (isThis(session.first)) session.first = Object.keys(session.pages)[0] ?? null;
  if (!session.forgotten.includes(plain)) session.forgotten.push(plain);
  await rewriteWaiting(session.id, (event) => {
    if ([event.url, event.requested_url, event.frame_of].some(isThis)) return null;
    return isThis(event.from_url) ? { ...event, from_url: null } : event;
  });
  await enqueue({ session: session.id, topic: session.topic, forget: plain });
}

export function isForgotten(session, url) {
  return session.forgotten.includes(withoutFragment(url));
}

/** Counts, and what is still missing in words. */
export function quality(session) {
  const pages = Object.values(session.pages).filter((page) => !page.framed || page.useful);
  const targets = pages.filter((page) => page.useful).length;
  const missing = [];
  if (targets < ENOUGH_TARGETS) missing.push(`Mark ${ENOUGH_TARGETS - targets} more as useful.`);
  if (pages.length < ENOUGH_PAGES) {
    missing.push(`Visit ${ENOUGH_PAGES - pages.length} more, pages that turn out useless included.`);
  }
  if (targets && session.pages[session.first]?.useful) {
    missing.push("The first page is a useful one: begin further away, so that there is a path to learn.");
  }
  return { pages: pages.length, targets, missing };
}
