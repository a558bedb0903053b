// The popup: pairing, start, counts, pause, forget, submit; what is new. Shows only what the worker tells;
// words from the web go in as text, never as HTML.
import { handOver, webAddress } from "./lib/as_you.js";
import { showNews } from "./lib/news_view.js";
import { tellWorker } from "./lib/worker.js";

const REFRESH_MILLISECONDS = 1000;
const MOST_FINDS = 5;
const find = (id) => document.getElementById(id);
let pairingWanted = false;
let failed = "";
let address = null; // of the page below, if it is on the web

/** The tab under the popup. When the popup is open in a tab of its own, its address names one. */
async function tabBelow() {
  const named = Number(new URLSearchParams(location.search).get("tab"));
  if (named) return named;
  const [active] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  return active?.id ?? null;
}

async function ask(type, more = {}) {
  return tellWorker({ type, tabId: await tabBelow(), ...more });
}

/** What a person does: its failure stays on the screen until the next thing is done. */
async function act(type, more) {
  showProblem((failed = ""));
  failed = (await ask(type, more)).error ?? "";
  await refresh();
}

function showProblem(text) {
  find("problem").hidden = !text;
  find("problem").textContent = text;
}

function show(state) {
  const { session } = state;
  const active = Boolean(session) && session.state !== "submitted";
  const pairing = !state.paired || pairingWanted;
  find("pairing").hidden = !pairing;
  find("beginning").hidden = pairing || active;
  find("session").hidden = pairing || !active;
  find("state").textContent = { recording: "recording", paused: "paused" }[session?.state] ?? "";
  find("paired").textContent = state.paired ? `Collector on this machine, port ${state.port}.` : "";
  find("repair").hidden = !state.paired || pairingWanted;
  find("newTabs").hidden = pairing;
  find("newTab").checked = state.newTab;
  showAsYou(state.paired && !pairingWanted);
  showProblem(failed || state.problem);
  showQueue(state);
  if (active) showSession(session, state.page);
  if (document.activeElement !== find("hosts")) find("hosts").value = state.excluded.join("\n");
}

function showSession(session, page) {
  find("name").textContent = session.topic;
  find("pages").textContent = session.pages;
  find("targets").textContent = session.targets;
  find("quality").className = session.missing.length ? "" : "ready";
  find("quality").textContent = session.missing.join(" ") || "Good enough to learn from. More makes it better.";
  find("pause").textContent = session.state === "paused" ? "Resume" : "Pause";
  find("forget").disabled = !page;
  find("page").textContent = page ? `This page: ${page.title || page.url}` : "This page is not recorded.";
}

function showAsYou(paired) {
  find("asYou").hidden = !paired || !address;
  for (const place of document.querySelectorAll("#asYou .host")) place.textContent = address?.host ?? "";
}

async function giveCookies() {
  const host = address.host;
  try {
    const { kept } = await handOver(address, async () => (await chrome.storage.local.get("pairing")).pairing);
    find("handed").textContent = `Trailhound has ${kept} cookies of ${host}. Crawls use them with: --for-host ${host}`;
    failed = "";
  } catch (error) {
    failed = String(error.message ?? error);
  }
  find("handed").hidden = Boolean(failed);
  showProblem(failed);
}

function showQueue({ waiting, bare, lost, problem }) {
  const parts = [];
  if (waiting && problem) parts.push(`${waiting} events wait in the browser until the collector is back.`);
  if (bare) parts.push(`${bare} pages are kept without their content: the waiting room is full.`);
  if (lost) parts.push(`${lost} events were lost.`);
  find("queue").hidden = !parts.length;
  find("queue").textContent = parts.join(" ");
}

async function showLast(session) {
  const done = session?.state === "submitted";
  find("last").hidden = !done;
  if (!done) return;
  const { learning, message } = await tellWorker({ type: "learned" });
  const said = { running: "Learning …", done: message, failed: message }[learning];
  const next = said ?? `Learn from it with: trailhound learn ${JSON.stringify(session.topic)}`;
  find("last").textContent = `“${session.topic}” was submitted: ${session.pages} pages, ${session.targets} useful. ${next}`;
}

async function refresh() {
  const state = await ask("state");
  if (state.session === undefined) return;
  show(state);
  await showLast(state.session);
}

/** What is new: at once as far as it is known, then as the app tells it. */
async function refreshNews(type, more) {
  const news = await ask(type, more);
  if (news.topics) showNews(find("news"), news, actOnNews, MOST_FINDS);
  else showProblem((failed = news.error));
}

async function actOnNews(type, more) {
  showProblem((failed = ""));
  await refreshNews(type, more);
}

function onSubmit(id, action) {
  find(id).addEventListener("submit", (event) => {
    event.preventDefault();
    void action();
  });
}

onSubmit("pairing", async () => {
  await act("pair", { code: find("code").value });
  if (failed) return;
  pairingWanted = false;
  find("code").value = "";
  await refresh();
});
onSubmit("beginning", async () => {
  // Firefox grants access to pages when the user asks for it; elsewhere it is there already.
  const allowed = await chrome.permissions.request({ origins: ["http://*/*", "https://*/*"] });
  if (allowed) await act("start", { topic: find("topic").value });
  else showProblem("Without access to pages there is nothing to record. Press Start again and allow it.");
});
find("pause").addEventListener("click", () => act(find("pause").textContent === "Resume" ? "resume" : "pause"));
find("forget").addEventListener("click", () => act("forget"));
find("submit").addEventListener("click", () => act("submit"));
find("exclude").addEventListener("click", () => act("exclude", { hosts: find("hosts").value }));
find("newTab").addEventListener("change", () => act("newTab", { shown: find("newTab").checked }));
find("repair").addEventListener("click", () => {
  pairingWanted = true;
  void refresh();
});
find("handOver").addEventListener("click", giveCookies);
address = webAddress((await chrome.tabs.get((await tabBelow()) ?? -1).catch(() => null))?.url);
await refresh();
await refreshNews("knownNews");
void refreshNews("news");
setInterval(refresh, REFRESH_MILLISECONDS);
