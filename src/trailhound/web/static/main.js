// Which view is shown for which address.

import { decoded, get, hasToken, listen, path, Refused, setToken, takeToken } from "./lib/api.js";
import { field, h, keptFocus, replace } from "./lib/dom.js";
import { notice } from "./lib/shell.js";
import { crawl } from "./views/crawl.js";
import { crawls } from "./views/crawls.js";
import { home } from "./views/home.js";
import { lab } from "./views/lab.js";
import { model } from "./views/model.js";
import { results } from "./views/results.js";
import { schedule } from "./views/schedule.js";
import { session } from "./views/session.js";
import { topic } from "./views/topic.js";

/** [pattern, view, title]. A view fills a place and may return a function that ends what it has begun;
 *  it may ask to be shown once more, after it has changed the address. */
const VIEWS = [
  [/^\/$/, home, () => "Topics"],
  [/^\/crawls$/, crawls, () => "Crawls"],
  [/^\/lab$/, lab, () => "Lab"],
  [/^\/topics\/([^/]+)$/, topic, (name) => name],
  [/^\/topics\/([^/]+)\/session$/, session, (name) => `Session of ${name}`],
  [/^\/topics\/([^/]+)\/model$/, model, (name) => `Model of ${name}`],
  [/^\/topics\/([^/]+)\/crawl$/, crawl, (topic) => `Crawl of ${topic}`],
  [/^\/topics\/([^/]+)\/schedule$/, schedule, (topic) => `Schedule of ${topic}`],
  [/^\/topics\/([^/]+)\/results$/, results, (topic) => `Results of ${topic}`],
];

const LINKS = [["/", "Topics"], ["/crawls", "Crawls"], ["/lab", "Lab"]];

/** After which the view before does not stay, as if it were what was asked for. */
const SLOW_MILLISECONDS = 400;
/** Whoever renames or deletes a topic here is shown something else by then. */
const ELSEWHERE_MILLISECONDS = 500;

const content = document.getElementById("content");
/** Made once: its picture cannot be had while the server is gone. */
const brand = h("a.brand", { href: "#/" }, h("img", { src: "/hound.svg", alt: "" }), "Trailhound");
let leave = null;
let shown = 0;
/** Whether an error is shown in place of the view. */
let inTrouble = false;
/** The topic that is shown, if it is a topic. */
let topicShown = null;
/** The line that says so while the server does not answer. */
let lost = null;

function header(address) {
  replace(document.getElementById("top"),
    brand,
    h("nav", { "aria-label": "Main" }, LINKS.map(([to, title]) =>
      h("a", { href: `#${to}`, "aria-current": address === to ? "page" : null }, title))));
}

async function show() {
  const mine = ++shown;
  const address = location.hash.slice(1).split("?")[0] || "/";
  leave?.();
  leave = null;
  inTrouble = false;
  header(address);
  const [pattern, view, title] = VIEWS.find(([each]) => each.test(address)) ?? [/^/, (place) => nothing(place), () => "Nothing here"];
  const names = pattern.exec(address).slice(1).map(decoded);
  [topicShown = null] = names;
  document.title = `${title(...names)} – Trailhound`;
  const place = h("div");
  const refocus = keptFocus(content);  // it is lost where the view before makes room for "Loading"
  const slow = setTimeout(() => { if (mine === shown) replace(content, h("p.quiet", { role: "status" }, "Loading …")); }, SLOW_MILLISECONDS);
  try {
    const ending = await view(place, names, show);
    if (mine !== shown) { ending?.(); return; }
    leave = ending ?? null;
    replace(content, place);
    if (document.activeElement === content) refocus();
  } catch (error) {
    if (mine === shown) explain(error);
  } finally {
    clearTimeout(slow);
  }
}

function nothing(place, why = "") {
  replace(place, h("h1", "There is nothing here"), why ? h("p.wrap", why) : null, h("p", h("a", { href: "#/" }, "All topics")));
}

function explain(error) {
  inTrouble = true;
  if (error instanceof Refused && error.status === 401) askForToken();
  else if (error instanceof Refused && error.status === 404) {
    document.title = "Nothing here – Trailhound";
    nothing(content, error.message);
  } else replace(content, h("div.trouble", h("h1", "That did not work"), h("p", error.message), h("button", { onclick: show }, "Try again")));
}

function askForToken() {
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const enter = (event) => { event.preventDefault(); setToken(input.value.replace(/^.*#token=/, "")); location.reload(); };
  const wrong = hasToken() ? h("p.trouble", { role: "alert" }, "The app does not know this token: it is mistyped, of another workspace, or was replaced.") : null;
  replace(content, h("h1", "Open the app"), wrong, h("form.card.stack", { onsubmit: enter },
    h("p", "Run ", h("code", "trailhound app"), ", or paste the address that ", h("code", "trailhound serve"), " shows: it holds the key to this app."),
    field("Address or token", input), h("button.primary", { type: "submit" }, "Open")));
}

function tell(happening) {
  document.dispatchEvent(new CustomEvent("happening", { detail: happening }));
  if (happening.kind === "session" && happening.text) notice(happening.text);
  if (topicShown !== null && (happening.kind === "awake" || (happening.kind === "topic" && happening.topic === topicShown))) lookForTopic(topicShown);
}

/** Says that the topic which is shown has been renamed or deleted, elsewhere. */
async function lookForTopic(name) {
  const mine = shown;
  await new Promise((rested) => { setTimeout(rested, ELSEWHERE_MILLISECONDS); });
  if (mine !== shown) return;
  const refused = await get(path`/api/topics/${name}`).then(() => null, (error) => error);
  if (mine !== shown || refused?.status !== 404) return;
  leave?.();
  leave = null;
  explain(refused);
}

/** Says while the server does not answer that what is shown is old, and looks anew when it is back. */
function answered(status) {
  if (status === 0) {
    if (!lost) document.getElementById("top").after(lost = h("p.lost", { role: "alert" }, "The app does not answer; trying again. What is shown may be out of date."));
    return;
  }
  if (!lost) return;
  lost.remove();
  lost = null;
  if (inTrouble || status === 401) show();
}

// The address says which view is shown: a link to a place in the page would lead to another view.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); content.focus(); });
takeToken();
const listenAnew = listen(tell, answered);
addEventListener("hashchange", () => {
  if (takeToken()) listenAnew();
  show().then(() => content.focus({ preventScroll: true }));
});
show();
