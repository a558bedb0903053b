// A topic at a glance: what it has, what to do next, its sessions as they arrive, its name and its end.

import { get, path, post, remove } from "../lib/api.js";
import { changes, counted, field, h, isUnfolded, number, replace, table, when } from "../lib/dom.js";
import { jobWatch } from "../lib/jobs.js";
import { attempt, go, notice, oneAtATime, topicHead, topicLink, whenever } from "../lib/shell.js";
import { pairingCard } from "./home.js";
import { importCard } from "./import_form.js";

/** The latest; an imported log may have hundreds. */
const SESSIONS_SHOWN = 20;

export async function topic(place, [name]) {
  const jobs = jobWatch(name, () => draw().catch(() => {}));
  const next = h("div"), figures = h("div"), sessions = h("div"), settings = h("div");

  const imports = importCard(name, jobs);
  const differs = changes();
  let ending = false, showsAll = false;
  /** Does what ends the topic under this name, and gives the one it has then; nothing is asked about it meanwhile. */
  const whileEnding = async (work) => {
    ending = true;
    let now = name;
    try { now = await work(); } finally { ending = now !== name; }
    if (!ending) await draw();  // it has the name that it had
  };
  const draw = oneAtATime(async () => {
    if (ending) return;
    const [found, listed, learning, running] = await Promise.all([
      get(path`/api/topics/${name}`), get(path`/api/topics/${name}/sessions`), get(path`/api/topics/${name}/learning`), jobs.look()]);
    const busy = running.some((job) => job.kind === "learn");
    const pairing = found.sessions ? null : await get("/api/pairing"); // of use when nothing was browsed yet
    if (!differs(found, listed, learning, busy, pairing, showsAll)) return;
    const how = pairing && pairingCard(pairing, isUnfolded(next, false));
    replace(next, found.problem ? h("p.trouble", found.problem) : null, busy ? null : nextStep(found, learning, jobs, how, imports, pairing?.browsers));
    replace(figures, figureList(found, learning));
    replace(sessions, sessionTable(name, listed, jobs, showsAll ? null : () => { showsAll = true; draw().catch(() => {}); }));
  });

  await draw();
  replace(settings, imports.element, await settingsCard(name, whileEnding));
  replace(place, topicHead(name, ""), jobs.element, next, figures, sessions, settings);
  const silence = whenever(["session", "topic", "crawl"], (heard) => { if (!heard.topic || heard.topic === name) draw().catch(() => {}); });
  return () => { silence(); jobs.end(); };
}

function nextStep(found, learning, jobs, how, imports, browsers) {
  const { topic: name } = found;
  const step = (title, text, ...buttons) => h("section.card.next", h("h2", title), h("p", text), h("div.row", buttons), how);
  const link = (view, text, kind = ".primary") => h(`a.button${kind}`, { href: topicLink(name, view) }, text);
  const learn = (text, kind) => {
    const button = h(`button${kind}`, { onclick: () => attempt(button, async () => jobs.watch(await post(path`/api/topics/${name}/learn`))) }, text);
    return button;
  };
  if (!found.sessions) {
    const begin = browsers ? `Open the extension's popup in your browser, write '${name}' there, and press Start. Then look` : "Start a session in the extension's popup, look";
    return step("Next: browse", `${begin} for what you want, and press Useful on the pages that have it. They appear here as you go.`,
      h(`button${browsers ? "" : ".primary"}`, { onclick: () => { how.open = true; how.querySelector("summary").focus(); } }, browsers ? "Pair another browser" : "Pair your browser"),
      h("button", { onclick: () => imports.unfold() }, "Import a recording"));
  }
  if (!found.marked) {
    return step("Next: mark pages", "Nothing is marked useful yet, so there is nothing to look for. Open the pages you have visited, and mark those that you wanted.", link("session", "Mark pages"));
  }
  if (!learning.learned) {
    return step("Next: learn", `${counted(found.marked, "page")} marked useful. Trailhound learns what they have in common, and which pages lead to them.`, learn("Learn", ".primary"), link("session", "Look at the session", ""));
  }
  const again = learning.stale ? learn("Learn again", "") : null;
  const stale = learning.stale ? " Sessions or marks have changed since the last learning." : "";
  if (!found.crawl) {
    return step("Next: crawl", `Trailhound knows what you look for. Let it search the web.${stale}`, link("crawl", "Start a crawl"), again);
  }
  return step("Next: results", `${counted(found.crawl.finds, "page")} found so far. Say which are useful: the topic learns from that.${stale}`,
    link("results", "See the results"), link("crawl", "Crawl", ""), again);
}

function figureList(found, learning) {
  const figure = (title, value, view) => h("div", h("dt", title), h("dd.figure", view ? h("a", { href: topicLink(found.topic, view) }, value) : value));
  return h("dl.figures.card",
    figure("Sessions", number(found.sessions), found.sessions ? "session" : ""),
    figure("Marked useful", number(found.marked), found.sessions ? "session" : ""),
    figure("Model", learning.learned ? (learning.stale ? "out of date" : "learned") : "none yet", learning.learned ? "model" : ""),
    figure("Pages fetched", found.crawl ? number(found.crawl.pages) : "–", found.crawl ? "crawl" : ""),
    figure("Finds", found.crawl ? number(found.crawl.finds) : "–", found.crawl ? "results" : ""));
}

/** All of them, or the latest and a button that asks for the rest. */
function sessionTable(name, listed, jobs, showAll) {
  if (!listed.length) return null;
  const shown = showAll ? listed.slice(0, SESSIONS_SHOWN) : listed;
  const rest = shown.length < listed.length ? h("button", { onclick: showAll }, `Show all ${number(listed.length)} sessions`) : null;
  const rows = shown.map((each) => [
    when(each.started_at), origin(each), number(each.pages), number(each.useful), number(each.not_useful), eraser(name, each, jobs)]);
  return h("section.card", h("h2", "Sessions"),
    table("Sessions of the topic", ["Begun", "From", { title: "Pages", number: true }, { title: "Useful", number: true }, { title: "Not useful", number: true }, "What to do"], rows), rest);
}

/** What the app cannot do yet. */
function origin(session) {
  const from = session.recorder === "trailhound mark" ? "marks made here" : session.recorder || "unknown";
  const open = !session.submitted && session.recorder.startsWith("extension");
  return [from, session.user ? ` (${session.user})` : "", open ? h("span.badge.new", "going on") : null];
}

function eraser(name, session, jobs) {
  const button = h("button.danger", { "aria-label": `Delete the session of ${when(session.started_at)}`, onclick: () => {
    if (!confirm(`Delete this session with ${counted(session.pages, "page")}? The topic is learned again from what is left. There is no way back.`)) return;
    attempt(button, async () => jobs.watch(await remove(path`/api/topics/${name}/sessions/${session.name}`)));
  } }, "Delete");
  return button;
}

async function settingsCard(name, whileEnding) {
  const others = (await get("/api/home")).topics.map((each) => each.topic).filter((each) => each !== name);
  return h("details.card", h("summary", "Rename, merge, delete"), h("div.stack", renameForm(name, whileEnding), others.length ? mergeForm(name, others) : null, deletion(name, whileEnding)));
}

function renameForm(name, whileEnding) {
  const input = h("input", { type: "text", required: true, maxlength: "200", value: name });
  const button = h("button", { type: "submit" }, "Rename");
  const rename = () => whileEnding(async () => {
    const { topic: now } = await post(path`/api/topics/${name}/rename`, { name: input.value });
    go(topicLink(now).slice(1));
    return now;
  });
  return h("form.stack", { onsubmit: (event) => { event.preventDefault(); attempt(button, rename); } }, field("Another name", input), button);
}

function mergeForm(name, others) {
  const select = h("select", others.map((each) => h("option", { value: each }, each)));
  const button = h("button", { type: "submit" }, "Copy the sessions");
  const merge = async () => {
    const made = await post(path`/api/topics/${name}/merge`, { name: select.value });
    notice(`The sessions of '${name}' are in '${made.topic}' too. Learn that again to make use of them.`);
    go(topicLink(made.topic).slice(1));
  };
  return h("form.stack", { onsubmit: (event) => { event.preventDefault(); attempt(button, merge); } },
    field("Merge into another topic", select, "Its sessions are copied there; this topic stays as it is until you delete it."), button);
}

function deletion(name, whileEnding) {
  const button = h("button.danger", { onclick: () => {
    if (!confirm(`Delete '${name}' with its sessions, model, crawls and archives? There is no way back.`)) return;
    attempt(button, () => whileEnding(async () => { await remove(path`/api/topics/${name}`); notice(`'${name}' is deleted.`); go("/"); return null; }));
  } }, "Delete the topic");
  return h("p", button);
}
