// A crawl in words, costly work at ease, and rows that change without losing the reader's place.

import { counted, h, number, when } from "./dom.js";

const ALIVE = ["starting", "running", "stopping"];
const STARTERS = { terminal: "on the command line", app: "in the app", schedule: "by the schedule", program: "by a program" };

export function isAlive(crawl) {
  return ALIVE.includes(crawl.state);
}

export function stateBadge(crawl) {
  const kind = { running: "good", starting: "good", "cut-short": "bad", paused: "new" }[crawl.state] ?? "";
  return h("span.badge", { class: crawl.failed ? "bad" : kind }, crawl.state.replace("-", " "));
}

/** What it is doing, or why it does nothing. */
export function stateInWords(crawl) {
  const by = STARTERS[crawl.started_by] ? ` ${STARTERS[crawl.started_by]}` : "";
  if (crawl.state === "starting") return "It is being prepared.";
  if (crawl.state === "stopping") return "It deals with what is in flight, and ends.";
  if (crawl.state === "running") return crawl.remark ? sentence(crawl.remark) : `Started${by}, ${when(crawl.started_at)}.`;
  if (crawl.state === "cut-short") return "It was cut short: its process was killed, or the machine went down. Everything up to its last page is safe, and Go on continues there.";
  return `${sentence(crawl.failed || crawl.ended || "it has ended")} ${when(crawl.ended_at)}.`;
}

export function sentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : counted(Math.round(hours / 24), "day");
}

export function perHundred(crawl) {
  return crawl.requests ? (100 * crawl.finds / crawl.requests).toFixed(1) : "–";
}

export function ranFor(crawl) {
  const end = isAlive(crawl) ? Date.now() / 1000 : crawl.ended_at ?? crawl.updated_at;
  return crawl.started_at ? Math.max(0, end - crawl.started_at) : null;
}

export function ofBudget(crawl) {
  return crawl.max_requests ? `${number(crawl.requests)} of ${number(crawl.max_requests)}` : number(crawl.requests);
}

/** Lets costly work be asked for at any time: it rests ten times as long as it took, then is done once for all who asked meanwhile. */
export function atEase(work) {
  let resting = false, again = false;
  return async function run() {
    if (resting) { again = true; return; }
    resting = true;
    const began = performance.now();
    await work().catch(() => {});  // the next one who asks tries again
    setTimeout(() => { resting = false; if (again) { again = false; run(); } }, Math.max(900, 10 * (performance.now() - began)));
  };
}

/** Children of a place by their content: what stays the same is not touched, so that focus stays where it is.
 *  Returns show(items); make(item) builds the element of one. */
export function steadily(place, make) {
  const kept = new Map();
  return (items) => {
    const keys = items.map((item) => JSON.stringify(item));
    for (const [key, element] of kept) if (!keys.includes(key)) { element.remove(); kept.delete(key); }
    items.forEach((item, at) => {
      if (!kept.has(keys[at])) kept.set(keys[at], make(item));
      const element = kept.get(keys[at]);
      if (place.children[at] !== element) place.insertBefore(element, place.children[at] ?? null);
    });
  };
}

/** A table of such rows. heads as for table(); cells(item) gives the cells of a row. Returns {element, show(items)}. */
export function steadyTable(caption, heads, cells, nothing) {
  const kind = (tag, at) => (heads[at].number ? `${tag}.number` : tag);
  const body = h("tbody");
  const whole = h("div.scroll.roomy", { tabindex: "0", role: "region", "aria-label": caption, hidden: true },
    h("table", h("thead", h("tr", heads.map((head, at) => h(kind("th", at), { scope: "col" }, head.title ?? head)))), body));
  const empty = h("p.quiet", nothing);
  const fill = steadily(body, (item) => h("tr", cells(item).map((cell, at) => h(kind("td", at), cell))));
  return {
    element: h("div", whole, empty),
    show: (items) => { whole.hidden = !items.length; empty.hidden = items.length > 0; fill(items); },
  };
}
