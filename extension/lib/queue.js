// What waits to be sent: bounded, in the browser's storage, in order. Survives worker restarts and
// a collector that is down.
import { CollectorDown, NotPaired, Refused, ask } from "./collector.js";
import { serially } from "./serial.js";

// Browsers grant an extension 10 MB.
const MOST_BYTES = 8_000_000;
const MOST_ITEMS = 20_000;
const BATCH_BYTES = 8_000_000;
const BATCH_ITEMS = 200;
const EMPTY = { first: 0, next: 0, bytes: 0, bare: 0, lost: 0 };
const nameOf = (number) => `queued-${number}`;

export async function queueFigures() {
  return { ...EMPTY, ...(await chrome.storage.local.get("queue")).queue };
}

/** Whether all of it waits now. Call inside serially(). When there is no room, pages lose their
 * content, then are left out. */
export async function enqueue(item) {
  const queue = await queueFigures();
  const full = queue.next - queue.first >= MOST_ITEMS;
  if (!full && (await keep(queue, item))) return true;
  if (!full && item.event?.html) {
    const { html, ...event } = item.event;
    if (await keep({ ...queue, bare: queue.bare + 1 }, { ...item, event })) return false;
  }
  await chrome.storage.local.set({ queue: { ...queue, lost: queue.lost + 1 } });
  return false;
}

/** Whether the item found room. */
async function keep(queue, item) {
  const bytes = new TextEncoder().encode(JSON.stringify(item)).length;
  if (item.event?.html && queue.bytes + bytes > MOST_BYTES) return false;
  const grown = { ...queue, next: queue.next + 1, bytes: queue.bytes + bytes };
  try {
    await chrome.storage.local.set({ [nameOf(queue.next)]: { ...item, bytes }, queue: grown });
    return true;
  } catch {
    return false; // the browser's own limit
  }
}

/** Changes a session's events that wait; null takes one back. Call inside serially(). */
export async function rewriteWaiting(session, change) {
  const queue = await queueFigures();
  for (let number = queue.first; number < queue.next; number += 1) {
    const item = (await chrome.storage.local.get(nameOf(number)))[nameOf(number)];
    if (item?.event && item.session === session) {
      await chrome.storage.local.set({ [nameOf(number)]: { ...item, event: change(item.event) } });
    }
  }
}

let sending = null;

/** Sends all that waits. One delivery at a time; a second call joins the first. */
export function deliver() {
  sending ??= sendAll().finally(() => { sending = null; });
  return sending;
}

async function sendAll() {
  for (;;) {
    const batch = await serially(nextBatch);
    if (!batch.length) {
      await report("");
      return true;
    }
    try {
      await serially(async () => remove(batch, await send(batch)));
      await report("");
    } catch (error) {
      if (!(error instanceof CollectorDown || error instanceof NotPaired)) throw error;
      await report(error.message);
      return false;
    }
  }
}

async function report(problem) {
  await chrome.storage.local.set({ problem });
}

/** As many items as go together: events of one session, or a single page to forget. */
async function nextBatch() {
  const queue = await queueFigures();
  // While the collector is down, one item is enough to see whether it is back.
  const most = (await chrome.storage.local.get("problem")).problem ? 1 : BATCH_ITEMS;
  const batch = [];
  let bytes = 0;
  for (let number = queue.first; number < queue.next && batch.length < most; number += 1) {
    const item = (await chrome.storage.local.get(nameOf(number)))[nameOf(number)] ?? {};
    const fits = !batch.length || bytes + (item.bytes ?? 0) <= BATCH_BYTES;
    const alike = !batch.length || (item.session === batch[0].session && !item.forget && !batch[0].forget);
    if (!fits || !alike) break;
    bytes += item.bytes ?? 0;
    batch.push({ ...item, number });
  }
  return batch;
}

/** The number of events that the collector would not have, one by one if need be. */
async function send(batch) {
  const { pairing } = await chrome.storage.local.get("pairing");
  const { session, topic, forget } = batch[0];
  const events = batch.map((item) => item.event).filter(Boolean);
  if (!forget && !events.length) return 0;
  try {
    const about = { session, topic };
    if (forget) await ask(pairing, "forget", { ...about, url: forget });
    else await ask(pairing, "events", { ...about, recorder: recorder(), events });
    return 0;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (batch.length === 1) return 1;
  }
  let refused = 0;
  for (const item of batch) refused += await send([item]);
  return refused;
}

export function recorder() {
  return `extension ${chrome.runtime.getManifest().version}`;
}

async function remove(batch, refused) {
  const queue = await queueFigures();
  queue.first = batch.at(-1).number + 1;
  queue.bytes -= batch.reduce((sum, item) => sum + (item.bytes ?? 0), 0);
  queue.lost += refused;
  if (queue.first === queue.next) queue.bytes = 0;
  await chrome.storage.local.remove(batch.map((item) => nameOf(item.number)));
  await chrome.storage.local.set({ queue });
}
