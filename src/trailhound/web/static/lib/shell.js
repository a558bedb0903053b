// What all views share besides elements: where links lead, notices, and attempts that may be refused.

import { h } from "./dom.js";

/** [name in the address, title] of a topic's views. */
export const TABS = [
  ["", "Overview"],
  ["session", "Session"],
  ["model", "Model"],
  ["crawl", "Crawl"],
  ["schedule", "Schedule"],
  ["results", "Results"],
];

/** Shows another view, by its address without the "#". */
export function go(address) {
  location.hash = address;
}

export function topicLink(topic, view = "") {
  return `#/topics/${encodeURIComponent(topic)}${view ? `/${view}` : ""}`;
}

/** Heading and tabs of a topic's views. */
export function topicHead(topic, current) {
  return [
    h("h1", { dir: "auto" }, topic),
    h("nav.tabs", { "aria-label": "Parts of the topic" }, TABS.map(([view, title]) =>
      h("a", { href: topicLink(topic, view), "aria-current": view === current ? "page" : null }, title))),
  ];
}

/** Tells something in passing; what went wrong stays longer. */
export function notice(text, bad = false) {
  const box = h("div.notice", { class: bad ? "bad" : "" }, text);
  document.getElementById("notices").append(box);
  setTimeout(() => box.remove(), bad ? 12_000 : 5_000);
}

/** Does something that may be refused, and says so; the button rests meanwhile. */
export async function attempt(button, work) {
  if (isResting(button)) return undefined;
  rest(button, true);
  try {
    return await work();
  } catch (error) {
    notice(error.message, true);
    return undefined;
  } finally {
    rest(button, false);
  }
}

/** Whether presses of a button are to be ignored for now. */
export function isResting(button) {
  return button?.getAttribute("aria-disabled") === "true";
}

/** Lets a button rest. One that is "disabled" would lose the focus, and whoever uses the keyboard her place. */
export function rest(button, isToRest) {
  if (isToRest) button?.setAttribute("aria-disabled", "true");
  else button?.removeAttribute("aria-disabled");
}

/** Lets work be asked for at any time: it runs once more after it was asked for, never twice at once. */
export function oneAtATime(work) {
  let running = null, again = false;
  async function run() {
    do { again = false; await work(); } while (again);
  }
  return () => {
    if (running) again = true;
    else running = run().finally(() => { running = null; });
    return running;
  };
}

/** Calls act(happening) for happenings of these kinds; returns a function that ends it. */
export function whenever(kinds, act) {
  const heard = (event) => { if (kinds.includes(event.detail.kind) || event.detail.kind === "awake") act(event.detail); };
  document.addEventListener("happening", heard);
  return () => document.removeEventListener("happening", heard);
}
