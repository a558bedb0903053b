// All topics at a glance; for a newcomer, the way from nothing to the first crawl in three steps.

import { get, path, post, remove } from "../lib/api.js";
import { changes, counted, field, h, isUnfolded, number, replace } from "../lib/dom.js";
import { attempt, go, notice, oneAtATime, topicLink, whenever } from "../lib/shell.js";

export async function home(place) {
  const differs = changes();
  const draw = oneAtATime(async () => {
    const [found, pairing] = await Promise.all([get("/api/home"), get("/api/pairing")]);
    if (!differs(found, pairing)) return;
    const open = isUnfolded(place, !found.topics.length);
    replace(place, found.topics.length ? topicList(found.topics, draw) : firstRun(), pairingCard(pairing, open),
      h("p.quiet.small", `Everything is kept in ${found.workspace}. Trailhound ${found.version}.`));
  });
  await draw();
  return whenever(["topic", "session", "job"], () => {
    // What is being typed stays.
    if (!place.contains(document.activeElement) || document.activeElement.tagName !== "INPUT") draw().catch(() => {});
  });
}

function newTopic() {
  // Browsers take these two for ways to other pages, so that the server would never hear of them.
  const name = h("input", { type: "text", required: true, maxlength: "200", placeholder: "for example: bee health", pattern: "(?!\\s*\\.{1,2}\\s*$).*", title: "Any name but . and .." });
  const button = h("button.primary", { type: "submit" }, "Create");
  const create = async () => {
    const made = await post(path`/api/topics/${name.value}`);
    go(topicLink(made.topic).slice(1));
  };
  return h("form.stack", { onsubmit: (event) => { event.preventDefault(); attempt(button, create); } },
    field("What will you look for?", name), button);
}

/** Makes a topic from a recorded session, and leads there. */
function playgroundButton(kind = "") {
  const button = h(`button${kind}`, { onclick: () => attempt(button, async () => {
    const made = await post("/api/playground/topic");
    go(topicLink(made.topic).slice(1));
  }) }, "Try it with the demo web");
  return button;
}

function topicList(topics, draw) {
  return [
    h("h1", "Topics"),
    h("div.grid", topics.map((topic) => topicCard(topic, draw)), h("section.card", h("h2", "Another topic"), newTopic(), topics.some((each) => each.topic.endsWith("(demo)")) ? null : h("p.apart-above", playgroundButton()))),
  ];
}

function topicCard(topic, draw) {
  const crawled = topic.crawl && `${counted(topic.crawl.finds, "find")} among ${counted(topic.crawl.pages, "fetched page")}.`;
  return h("article.card",
    h("h2", { dir: "auto" }, h("a", { href: topicLink(topic.topic) }, topic.topic)),
    topic.problem ? h("p.trouble", topic.problem) : null,
    h("p", `${counted(topic.sessions, "session")}, ${number(topic.marked)} marked useful.`),
    h("p", crawled ?? (topic.learned ? "Learned; not crawled yet." : "Not learned yet.")),
    h("button.danger", { onclick: (event) => erase(event.target, topic.topic, draw), "aria-label": `Delete ${topic.topic}` }, "Delete"));
}

async function erase(button, topic, draw) {
  if (!confirm(`Delete '${topic}' with its sessions, model, crawls and archives? There is no way back.`)) return;
  await attempt(button, async () => {
    await remove(path`/api/topics/${topic}`);
    notice(`'${topic}' is deleted.`);
    await draw();
  });
}

function firstRun() {
  return [
    h("h1", "Welcome to Trailhound"),
    h("p", "You browse for a topic and press ", h("strong", "Useful"), " on the pages you wanted. Trailhound learns which pages lead there, and crawls the web for more of them."),
    h("ol.steps",
      h("li", h("h2", "Name a topic"), newTopic()),
      h("li", h("h2", "Browse"), h("p", "Add the extension to your browser, as shown below. Start a session in its popup, browse, and press Useful on pages that you wanted; five or more are a good beginning. Submit at the end.")),
      h("li", h("h2", "Crawl"), h("p", "Trailhound learns from the session at once. Open the topic, press Crawl, and watch the finds come in."))),
    h("section.card", h("h2", "Nothing to browse for just now?"),
      h("p", "Begin with a session that was recorded for you, and crawl a small web that this app makes up and serves on your own machine. Nothing leaves it, and nobody is disturbed."),
      playgroundButton(".primary")),
  ];
}

/** How a browser is paired, to be unfolded. */
export function pairingCard(pairing, open) {
  return h("details.card", { open }, h("summary", pairing.browsers ? `${counted(pairing.browsers, "browser")} paired` : "Pair your browser"),
    h("ol.stack",
      h("li", "Chrome, Chromium, Edge: open ", h("code", "chrome://extensions"), ", switch on Developer mode, press Load unpacked and choose the folder ", h("code", pairing.extension), "."),
      h("li", "Firefox: open ", h("code", "about:debugging#/runtime/this-firefox"), ", press Load Temporary Add-on and choose manifest.json in that folder."),
      h("li", "Open the extension's popup and enter the pairing code ", h("code", pairing.code), ".")),
    h("p.quiet.small", "Stored while a session is recorded and at no other time: addresses, titles, times, the pages' text and links without anything typed into them, and your marks. On this machine only."));
}
