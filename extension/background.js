// The extension's worker: notes where tabs go while a session is recorded, and answers the popup
// and the bars. It may be stopped at any time, so everything it knows is in storage.
import { Refused, ask, readCode } from "./lib/collector.js";
import { hostsOf, mayRecord } from "./lib/exclusions.js";
import { NEWS_ALARM, beginNews, knownNews, markFind, noteSeen, refreshNews } from "./lib/news.js";
import { deliver, queueFigures } from "./lib/queue.js";
import { serially } from "./lib/serial.js";
import * as sessions from "./lib/session.js";
import * as trail from "./lib/trail.js";

const SCRIPT_ID = "recording";
const SCRIPT_FILES = ["capture.js", "bar.js"];
const PAGES = ["http://*/*", "https://*/*"];
const RETRY_ALARM = "deliver";
const RETRY_MINUTES = 0.5;

// ---- tabs -------------------------------------------------------------------------------------

const tabName = (id) => `tab-${id}`;

async function readTab(id) {
  return (await chrome.storage.session.get(tabName(id)))[tabName(id)] ?? trail.newTab();
}

async function writeTab(id, tab) {
  await chrome.storage.session.set({ [tabName(id)]: tab });
}

/** The session if it is being recorded right now, and whether this address may be part of it. */
async function recording(url) {
  const session = await sessions.currentSession();
  if (session?.state !== "recording") return { session: null, allowed: false };
  const allowed = mayRecord(url, await sessions.excludedHosts()) && !sessions.isForgotten(session, url);
  return { session, allowed };
}

/** Visits whose page never told its content: downloads, images, pages left at once. */
async function flushWaiting(session, tab, frameIds = Object.keys(tab.waiting)) {
  for (const frameId of frameIds) {
    const visit = tab.waiting[frameId];
    delete tab.waiting[frameId];
    delete visit?.holders;
    // A frame that never spoke is an advertisement or a tracker more often than a page.
    if (visit && session && !visit.frame_of) await sessions.recordVisit(session, visit);
  }
  if (session) await sessions.saveSession(session);
}

async function onCommitted(move) {
  // Loaded in advance by the browser; it may never be shown.
  if (move.documentLifecycle === "prerender") return;
  const { session, allowed } = await recording(move.url);
  const tab = await readTab(move.tabId);
  if (!session) {
    // Nothing is kept of where tabs go outside a session.
    await chrome.storage.session.remove(tabName(move.tabId));
    return;
  }
  const requested = trail.requestedUrl(tab, move);
  if (move.frameId === 0) {
    await flushWaiting(session, tab);
    const how = trail.moveTab(tab, move, allowed);
    if (allowed) await expect(tab, move, { ...how, requested_url: requested });
  } else if (allowed && tab.current) {
    await flushWaiting(session, tab, [move.frameId]);
    await expect(tab, move, { ...trail.moveFrame(tab, move), requested_url: requested });
  }
  await writeTab(move.tabId, tab);
}

async function expect(tab, move, how) {
  tab.waiting[move.frameId] = { time: move.timeStamp / 1000, url: move.url, title: "", ...how };
}

/** Applications that change the address without loading a page. */
async function onRewritten(move) {
  if (move.frameId !== 0) return;
  const { session, allowed } = await recording(move.url);
  const tab = await readTab(move.tabId);
  if (!session || tab.current === move.url) return;
  if (tab.waiting[0] && move.transitionQualifiers?.includes("client_redirect")) {
    // The page has corrected its own address while it was loading.
    tab.waiting[0].url = move.url;
    tab.history[tab.index] = tab.current = move.url;
    await writeTab(move.tabId, tab);
    return;
  }
  const frames = tab.frames;
  await onCommitted({ ...move, transitionType: "link" });
  const moved = await readTab(move.tabId);
  await writeTab(move.tabId, { ...moved, frames });
  if (allowed) await tell(move.tabId, { type: "capture" });
  await showState(move.tabId);
}

const listen = (event, handler) => event.addListener((details) => void serially(() => handler(details)));

listen(chrome.webNavigation.onBeforeNavigate, async (move) => {
  const { session } = await recording(move.url);
  if (!session) return;
  const tab = await readTab(move.tabId);
  trail.noteRequested(tab, move);
  await writeTab(move.tabId, tab);
});
listen(chrome.webNavigation.onCommitted, onCommitted);
listen(chrome.webNavigation.onHistoryStateUpdated, onRewritten);
listen(chrome.webNavigation.onReferenceFragmentUpdated, async (move) => {
  if (trail.isRoute(move.url)) await onRewritten(move);
});
listen(chrome.webNavigation.onCreatedNavigationTarget, async (opened) => {
  const { session } = await recording(opened.url);
  if (!session) return;
  const source = await readTab(opened.sourceTabId);
  const tab = await readTab(opened.tabId);
  // The first page may already be there.
  const opener = source.frames[opened.sourceFrameId] ?? source.current;
  if (tab.waiting[0] && tab.history.length === 1) tab.waiting[0].from_url ??= opener;
  else tab.opener = opener;
  await writeTab(opened.tabId, tab);
});
chrome.tabs.onRemoved.addListener((id) => void serially(async () => {
  const session = await sessions.currentSession();
  const tab = await readTab(id);
  await flushWaiting(session?.state === "recording" ? session : null, tab);
  await chrome.storage.session.remove(tabName(id));
}));

// ---- new tabs ---------------------------------------------------------------------------------

const NEW_TABS = new Set([
  "chrome://newtab/", "chrome://new-tab-page/", "chrome://new-tab-page-third-party/", "edge://newtab/", "about:newtab", "about:home",
]);

/** Instead of the browser's own page, if the popup's setting says so. */
chrome.webNavigation.onBeforeNavigate.addListener(async ({ url, tabId, frameId }) => {
  if (frameId !== 0 || !NEW_TABS.has(url) || !(await chrome.storage.local.get("newTab")).newTab) return;
  await chrome.tabs.update(tabId, { url: chrome.runtime.getURL("newtab.html") }).catch(() => {});
});

/** A page that was loaded in advance is shown now; browsers may not tell otherwise. */
async function onHello(message, sender) {
  const tab = await readTab(sender.tab.id);
  if (message.prerendered && sender.frameId === 0 && tab.current !== message.url) {
    const move = { tabId: sender.tab.id, frameId: 0, url: message.url, timeStamp: Date.now() };
    await onCommitted({ ...move, transitionType: "link" });
  }
  return barState(sender.tab.id);
}

// ---- content of pages -------------------------------------------------------------------------

async function onSnapshot(message, sender) {
  const { session, allowed } = await recording(message.url);
  const tab = await readTab(sender.tab.id);
  const visit = tab.waiting[sender.frameId];
  if (!session || !allowed || !visit || !sameAddress(visit.url, message.url)) return;
  delete tab.waiting[sender.frameId];
  visit.title = String(message.title ?? "").slice(0, 1000);
  visit.html = message.html;
  // A link in a frame: which frame held it, the new page's referrer tells.
  if (visit.holders?.includes(message.referrer)) visit.from_url = message.referrer;
  delete visit.holders;
  if (visit.frame_of) trail.noteInner(tab, visit, message.area);
  else tab.frameset = message.frameset === true;
  await sessions.recordVisit(session, visit, message.fingerprint);
  await sessions.saveSession(session);
  await writeTab(sender.tab.id, tab);
}

const sameAddress = (one, other) => one === other || trail.withoutFragment(one) === trail.withoutFragment(other);

async function onMark(message, sender) {
  const { session, allowed } = await recording(sender.tab.url ?? message.url);
  const tab = await readTab(sender.tab.id);
  if (!session || !allowed || !tab.current) return;
  await flushWaiting(session, tab, [0]);
  await writeTab(sender.tab.id, tab);
  await sessions.recordMark(session, trail.judgedUrl(tab), message.useful === true);
  await sessions.saveSession(session);
}

// ---- the session ------------------------------------------------------------------------------

async function syncScripts(wanted) {
  const registered = await chrome.scripting.getRegisteredContentScripts({ ids: [SCRIPT_ID] });
  if (wanted && !registered.length) {
    const script = { id: SCRIPT_ID, js: SCRIPT_FILES, matches: PAGES, allFrames: true, runAt: "document_idle" };
    await chrome.scripting.registerContentScripts([script]);
  } else if (!wanted && registered.length) {
    await chrome.scripting.unregisterContentScripts({ ids: [SCRIPT_ID] });
  }
}

async function start({ topic, tabId }) {
  const name = String(topic ?? "").trim();
  if (!name) throw new Refused("Name what you are looking for first.");
  const session = sessions.newSession(name);
  await chrome.storage.session.clear();
  await chrome.storage.local.set({ queue: { ...(await queueFigures()), bare: 0, lost: 0 } });
  await sessions.saveSession(session);
  await syncScripts(true);
  if (tabId) await beginAt(tabId);
}

/** The page on the screen when a session starts, or goes on, is part of it. */
async function beginAt(tabId) {
  const shown = await chrome.tabs.get(tabId).catch(() => null);
  if (!shown?.url || shown.incognito || !(await recording(shown.url)).allowed) return;
  const tab = trail.newTab();
  const move = { url: shown.url, frameId: 0, timeStamp: Date.now(), transitionType: "link" };
  await expect(tab, move, trail.moveTab(tab, move, true));
  await writeTab(tabId, tab);
  const target = { tabId, allFrames: true };
  await chrome.scripting.executeScript({ target, files: SCRIPT_FILES }).catch(() => {});
}

async function pause(paused, tabId) {
  const session = await sessions.currentSession();
  if (!session || session.state === "submitted") return;
  if (paused) await flushAllTabs(session);
  session.state = paused ? "paused" : "recording";
  await sessions.saveSession(session);
  await chrome.storage.session.clear();
  if (!paused && tabId) await beginAt(tabId);
}

async function flushAllTabs(session) {
  const tabs = await chrome.storage.session.get(null);
  for (const [name, tab] of Object.entries(tabs)) {
    if (!name.startsWith("tab-")) continue;
    await flushWaiting(session, tab);
    await chrome.storage.session.set({ [name]: tab });
  }
}

async function submit() {
  const session = await sessions.currentSession();
  if (!session || session.state === "submitted") return;
  if (session.state === "recording") await flushAllTabs(session);
  await sessions.recordSubmit(session);
  await sessions.saveSession(session);
  await syncScripts(false);
  await chrome.storage.session.clear();
}

async function forget(tabId) {
  const session = await sessions.currentSession();
  const tab = await readTab(tabId);
  if (!session || session.state === "submitted" || !tab.current) return;
  const url = tab.current;
  await sessions.forgetPage(session, url);
  await sessions.saveSession(session);
  const blank = (known) => (known === url ? null : known);
  await writeTab(tabId, { ...tab, current: null, waiting: {}, frames: {}, history: tab.history.map(blank) });
}

// ---- what others see --------------------------------------------------------------------------

async function tell(tabId, message) {
  await chrome.tabs.sendMessage(tabId, message).catch(() => {});
}

async function barState(tabId) {
  const session = await sessions.currentSession();
  if (!session || session.state === "submitted") {
    return { active: false, submitted: session?.state === "submitted", ...(session && sessions.quality(session)) };
  }
  const tab = await readTab(tabId);
  return {
    active: true,
    paused: session.state === "paused",
    recorded: Boolean(tab.current),
    useful: Boolean(session.pages[trail.judgedUrl(tab)]?.useful),
    topic: session.topic,
    ...sessions.quality(session),
  };
}

async function showState(tabId) {
  await tell(tabId, { type: "state", state: await barState(tabId) });
}

async function showStateEverywhere() {
  const tabs = await chrome.tabs.query({});
  await Promise.all(tabs.map((tab) => showState(tab.id)));
}

async function popupState(tabId) {
  const [{ pairing, problem, newTab }, session, queue, excluded] = await Promise.all([
    chrome.storage.local.get(["pairing", "problem", "newTab"]),
    sessions.currentSession(),
    queueFigures(),
    sessions.excludedHosts(),
  ]);
  const tab = tabId ? await readTab(tabId) : trail.newTab();
  const page = session?.pages[trail.judgedUrl(tab)] ?? null;
  return {
    paired: Boolean(pairing),
    port: pairing?.port ?? null,
    problem: problem ?? "",
    waiting: queue.next - queue.first,
    bare: queue.bare,
    lost: queue.lost,
    excluded,
    newTab: Boolean(newTab),
    session: session && { topic: session.topic, state: session.state, ...sessions.quality(session) },
    page: tab.current && { url: tab.current, title: page?.title ?? "", useful: Boolean(page?.useful) },
  };
}

async function pair(code) {
  const pairing = readCode(code);
  if (!pairing) throw new Refused("That is no pairing code. Copy the line that 'trailhound collect' shows.");
  await ask(pairing, "pair", {});
  await chrome.storage.local.set({ pairing, problem: "" });
  void beginNews();
}

async function learned() {
  const { pairing } = await chrome.storage.local.get("pairing");
  const session = await sessions.currentSession();
  if (session?.state !== "submitted") return {};
  return ask(pairing, "status", { session: session.id, topic: session.topic }).catch(() => ({}));
}

const FROM_PAGES = {
  hello: onHello,
  snapshot: onSnapshot,
  mark: onMark,
  submit,
};
const FROM_POPUP = {
  state: async ({ tabId }) => popupState(tabId),
  pair: async ({ code }) => pair(code),
  start,
  pause: async ({ tabId }) => pause(true, tabId),
  resume: async ({ tabId }) => pause(false, tabId),
  forget: async ({ tabId }) => forget(tabId),
  exclude: async ({ hosts }) => chrome.storage.local.set({ excluded: hostsOf(hosts) }),
  submit,
  learned,
  newTab: async ({ shown }) => chrome.storage.local.set({ newTab: shown === true }),
};
// Slow, and nothing of the session: these wait for nobody, and nobody waits for them.
const ABOUT_NEWS = { knownNews, news: refreshNews, newsMark: markFind, newsSeen: noteSeen };
const SILENT = new Set(["hello", "state", "learned", "pair", "newTab"]);

async function answer(message, sender) {
  const fromPopup = sender.url?.startsWith(chrome.runtime.getURL(""));
  const handlers = fromPopup ? FROM_POPUP : FROM_PAGES;
  if (fromPopup && Object.hasOwn(ABOUT_NEWS, message.type)) return ABOUT_NEWS[message.type](message);
  if (!Object.hasOwn(handlers, message.type)) throw new Refused("Unknown request.");
  if (!fromPopup && (!sender.tab || sender.tab.incognito)) return { active: false };
  const found = await serially(() => handlers[message.type](message, sender));
  if (!SILENT.has(message.type)) {
    await serially(showStateEverywhere);
    void deliverLater();
  }
  return found ?? {};
}

async function deliverLater() {
  const done = await deliver();
  if (done) await chrome.alarms.clear(RETRY_ALARM);
  else await chrome.alarms.create(RETRY_ALARM, { periodInMinutes: RETRY_MINUTES });
}

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  if (sender.id !== chrome.runtime.id) return false;
  answer(message, sender).then(reply, (error) => reply({ error: String(error.message ?? error) }));
  return true;
});
chrome.alarms.onAlarm.addListener((alarm) => {
  if (alarm.name === RETRY_ALARM) void deliverLater();
  if (alarm.name === NEWS_ALARM) void refreshNews();
});

async function wakeUp() {
  const session = await sessions.currentSession();
  await syncScripts(Boolean(session) && session.state !== "submitted");
  void deliverLater();
  void beginNews();
}
chrome.runtime.onInstalled.addListener(() => void serially(wakeUp));
// Tabs that a starting browser brings back were not opened for the session.
chrome.runtime.onStartup.addListener(() => void serially(async () => {
  await pause(true);
  await wakeUp();
}));
