// Pages below the threshold, and the threshold as a slider that shows what it would take in.

import { get, put, query } from "../lib/api.js";
import { counted, field, h, number, replace } from "../lib/dom.js";
import { attempt } from "../lib/shell.js";
import { resultCard } from "./result_card.js";

const STILL_MILLISECONDS = 150;

export function nearMisses(state) {
  const list = h("div.stack");
  const more = h("div");
  const sliding = h("div");
  let asked = 0;

  async function load(after = "", at = null) {
    const mine = ++asked;
    const found = await get(query(state.base, { crawl: state.crawl, kind: "missed", after, limit: 10, min_score: at ?? "" }));
    if (mine !== asked) return;
    const cards = found.results.map((result) => resultCard(result, state, () => {}));
    if (after) list.append(...cards);
    else replace(list, cards.length ? cards : h("p.quiet", at === null ? "There are none." : "None above this threshold."));
    replace(more, found.after ? h("button", { onclick: (event) => attempt(event.currentTarget, () => load(found.after, at)) }, "Show more near misses") : null);
  }

  /** The threshold is the topic's, and moves pages of the present crawl alone. */
  async function loadThreshold() {
    if (state.crawl) return;
    const held = await get(`${state.base}/threshold`).catch(() => null);
    replace(sliding, held ? slider(state, held, (at) => load("", at)) : h("p.quiet.small", "The judge of this topic has no threshold to choose."));
  }

  return {
    element: h("section.card.stack", { "aria-labelledby": "misses-title" }, h("h2", { id: "misses-title" }, "Near misses"),
      h("p.quiet", "Pages that scored below the threshold, best first. Mark one useful, and it is in the results at once."),
      sliding, list, more),
    load() { load().catch(() => {}); loadThreshold(); },
  };
}

function slider(state, held, show) {
  const told = h("output", { "aria-live": "polite" }, "This is the threshold that holds.");
  const input = h("input", { type: "range", min: "0", max: "1", step: "0.01", value: held.threshold.toFixed(2) });
  const apply = h("button.primary", { disabled: true, onclick: () => attempt(apply, () => choose(Number(input.value))) }, "Apply");
  let timer = 0, lowered = false;

  async function choose(threshold) {
    await put(`${state.base}/threshold`, { threshold });
    told.textContent = "Applied; pages are moving.";
  }

  async function look() {
    const at = Number(input.value);
    const effect = await get(query(`${state.base}/threshold/effect`, { at }));
    if (Number(input.value) !== at) return;
    told.textContent = inWords(at, effect);
    apply.disabled = !effect.joined && !effect.left;
    if (at < held.threshold || lowered) show(at < held.threshold ? at : null);
    lowered = at < held.threshold;
  }

  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => attempt(null, look), STILL_MILLISECONDS); });
  const learned = held.learned === null ? "" : ` Learned from your sessions: ${held.learned.toFixed(2)}.`;
  return h("div.stack",
    field(`Threshold: ${held.threshold.toFixed(2)}${held.chosen ? ", chosen by you" : ""}`, input, `Pages with this score or more are finds.${learned}`),
    h("div.row", told, apply, held.chosen ? h("button", { onclick: (event) => attempt(event.currentTarget, () => choose(null)) }, "Back to the learned one") : null));
}

function inWords(at, effect) {
  const changes = [];
  if (effect.joined) changes.push(`${counted(effect.joined, "more page", "more pages")}`);
  if (effect.left) changes.push(`${counted(effect.left, "page")} fewer`);
  return `At ${at.toFixed(2)}: ${changes.join(", ") || "no change"}; ${number(effect.finds)} in all.`;
}
