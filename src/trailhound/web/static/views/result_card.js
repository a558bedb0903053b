// One result: what it is, what to say of it, and, on demand, why it is here and how it was archived.

import { get, post, query } from "../lib/api.js";
import { counted, h, outside, replace, table, when } from "../lib/dom.js";
import { attempt, notice } from "../lib/shell.js";

/** The server tells everybody of a mark, also who made it; what is on the screen has changed already. */
const HEARD_MILLISECONDS = 2000;

/** Text in pieces, with what was searched for marked. */
function pieces(segments) {
  return segments.map(([text, isMatch]) => (isMatch ? h("mark", text) : text));
}

function plain(segments) {
  return segments.map(([text]) => text).join("");
}

/** state: {base, crawl, ownMarks, marksKept, join(result), marked()}, the last called when a mark is kept, which then is to be counted; left(result) is called when the card has gone to the list of finds. */
export function resultCard(result, state, left = null) {
  const card = h("article.result");
  const title = plain(result.title) || result.url;
  const panel = h("div");
  const score = result.score ?? 0;
  /** What Undo brings back. */
  let earlier = null;

  async function mark(button, useful) {
    const before = result.marked;
    const value = before !== useful ? useful : useful ? null : earlier;
    if (value === false) earlier = before;
    result.marked = value;
    drawKeepingFocus(useful);
    state.ownMarks += 1;
    const keeping = post(`${state.base}/marks`, { crawl: state.crawl, urls: [result.url], useful: value });
    state.marksKept = Promise.allSettled([state.marksKept, keeping]);  // lists that are asked for now wait for it
    const said = await attempt(button, () => keeping);
    if (said === undefined) { result.marked = before; draw(); }
    else await moved(value);
    setTimeout(() => { state.ownMarks -= 1; }, HEARD_MILLISECONDS);
  }

  /** What was pressed has the focus afterwards too, or what took its place. */
  function drawKeepingFocus(useful) {
    const hadFocus = card.contains(document.activeElement);
    draw();
    if (hadFocus) card.querySelector(result.marked === false ? ".gone button" : `.verdicts button:nth-child(${useful ? 1 : 2})`).focus();
  }

  function moved(value) {
    if (value === true && left) {
      const next = card.contains(document.activeElement) ? card.nextElementSibling ?? card.previousElementSibling : null;
      card.remove();
      next?.querySelector("button").focus();
      left(result);
      state.join({ ...result, relevant: true });
      notice(`In the results now: ${title}`);
    }
    return state.marked();
  }

  function verdict(text, useful) {
    return h("button", { "aria-pressed": String(result.marked === useful), "aria-label": `${text}: ${title}`, onclick: (event) => mark(event.currentTarget, useful) }, text);
  }

  function draw() {
    if (result.marked === false) {
      replace(card, h("p.row.apart.gone", h("span.quiet", "Not useful, and out of the results: ", h("bdi", title)),
        h("button", { "aria-label": `Undo: ${title}`, onclick: (event) => mark(event.currentTarget, false) }, "Undo")));
      return;
    }
    replace(card,
      h("div.row.apart.top",
        h("h3", { dir: "auto" }, outside(result.url, pieces(result.title).length ? pieces(result.title) : result.url)),
        h("div.row.verdicts", verdict("Useful", true), verdict("Not useful", false))),
      h("p.url", result.url),
      result.snippet.length ? h("p", { dir: "auto" }, pieces(result.snippet)) : null,
      h("p.row.small.facts",
        h("span.score", h("meter", { min: "0", max: "1", value: score.toFixed(3), "aria-label": `Score ${score.toFixed(2)}` }), score.toFixed(2)),
        result.marked ? h("span.badge.good", "useful") : null,
        result.changed_at ? h("span.badge.new", `changed ${when(result.changed_at)}`) : null,
        result.known ? h("span.badge", "in your sessions") : null,
        h("span.quiet", [result.language, when(result.at)].filter(Boolean).join(" · "))),
      way(result.path),
      result.copies.length ? h("details.small", h("summary", `${counted(result.copies.length, "page")} with the same text`),
        h("ul", result.copies.map((address) => h("li.url", outside(address))))) : null,
      h("div.row.small",
        h("button.link", { "aria-label": `Why is it here? ${title}`, onclick: (event) => attempt(event.currentTarget, why) }, "Why?"),
        h("button.link", { "aria-label": `Archived copy of ${title}`, onclick: (event) => attempt(event.currentTarget, copy) }, "Archived copy")),
      panel);
  }

  async function why() {
    if (panel.childElementCount) { replace(panel); return; }
    replace(panel, explanation(await get(query(`${state.base}/why`, { crawl: state.crawl, url: result.url }))));
  }

  async function copy() {
    showCopy(await get(query(`${state.base}/copy`, { crawl: state.crawl, url: result.url })));
  }

  draw();
  return card;
}

/** How the crawl came here: the seed and the last step, the others on demand. */
function way(path) {
  if (path.length < 2) return h("p.small.quiet", "The crawl started here: a seed, or a page of your sessions.");
  const [first] = path;
  const between = path.length > 2 ? ` → ${counted(path.length - 2, "page")}` : "";
  return h("details.small.way", h("summary", `From ${first}${between} → here`),
    h("ol", path.map((address) => h("li.url", /^https?:/.test(address) ? outside(address) : address))));
}

function explanation(said) {
  const beliefs = Object.entries(said.belief ?? {});
  const areRatios = beliefs.reduce((sum, [, value]) => sum + value, 0) > 1.01;
  return h("div.panel.stack.small", h("p", h("strong", said.because)), h("ul", said.details.map((line) => h("li", line))),
    beliefs.length ? table("What was expected behind the link", ["Expected behind the link", { title: areRatios ? "times the average" : "share", number: true }],
      beliefs.map(([name, value]) => [name, areRatios ? value.toFixed(2) : `${(100 * value).toFixed(1)} %`])) : null,
    said.reasons?.length ? table("What moved its priority", ["What moved its priority", { title: "log odds", number: true }],
      said.reasons.map((reason) => [reason.words, reason.moved === null ? "" : (reason.moved > 0 ? "+" : "") + reason.moved.toFixed(1)])) : null);
}

/** The page as it was archived: as text, or as a page in a frame that may do nothing at all. */
function showCopy(copied) {
  const body = h("div.copy");
  const asText = () => replace(body, h("div.archived-text", { tabindex: "0", role: "region", "aria-label": "Text of the page", dir: "auto" }, copied.text || "There is no text in it."));
  const asPage = () => replace(body, h("iframe", { sandbox: "", src: copied.document, title: "The archived page", referrerpolicy: "no-referrer" }));
  const dialog = h("dialog", { "aria-labelledby": "copy-title", onclose: () => dialog.remove() },
    h("div.row.apart.top", h("h2", { id: "copy-title", dir: "auto" }, copied.title || copied.url), h("button", { onclick: () => dialog.close() }, "Close")),
    h("p.url", outside(copied.url), ` as it was on ${when(copied.at)}`),
    h("div.row", h("button", { onclick: asText }, "As text"),
      copied.document ? h("button", { onclick: asPage }, "As a page") : null,
      h("span.quiet.small", copied.document ? "The page is shown without its scripts and pictures, and without any rights." : "")),
    body);
  asText();
  window.addEventListener("hashchange", () => dialog.close(), { once: true });
  document.body.append(dialog);
  dialog.showModal();
}
