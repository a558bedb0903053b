// What is new for each topic: asked for now and then, kept for popup and new tab, counted on the badge.
import { CollectorDown, NotPaired, Refused, ask } from "./collector.js";

export const NEWS_ALARM = "news";
export const NEWS_MINUTES = 5;
const MOST_ON_BADGE = 99;
const NOTHING = { at: 0, topics: [] };

async function pairing() {
  return (await chrome.storage.local.get("pairing")).pairing;
}

export async function knownNews() {
  return (await chrome.storage.local.get("news")).news ?? NOTHING;
}

/** Asks the app. While it does not run, what was told last stays. */
export async function refreshNews() {
  try {
    await keep(await ask(await pairing(), "news", {}));
  } catch (error) {
    if (error instanceof NotPaired) await keep(NOTHING);
    else if (!(error instanceof CollectorDown || error instanceof Refused)) throw error;
  }
  return knownNews();
}

async function keep(news) {
  await chrome.storage.local.set({ news });
  const count = news.topics.reduce((sum, topic) => sum + topic.new + topic.changed, 0);
  await chrome.action.setBadgeBackgroundColor({ color: "#22614f" });
  await chrome.action.setBadgeText({ text: count > MOST_ON_BADGE ? `${MOST_ON_BADGE}+` : count ? String(count) : "" });
  await chrome.action.setTitle({ title: count ? `Trailhound: ${count} new` : "Trailhound" });
}

/** Useful or not: it counts in the app at once, and is no news any more. */
export async function markFind({ topic, url, useful }) {
  await ask(await pairing(), "mark", { topic, url, useful: useful === true });
  return refreshNews();
}

/** All that was told of a topic has been seen; what came since is new. */
export async function noteSeen({ topic }) {
  const { at } = await knownNews();
  await ask(await pairing(), "seen", { topic, at });
  return refreshNews();
}

export async function beginNews() {
  if (!(await chrome.alarms.get(NEWS_ALARM))) await chrome.alarms.create(NEWS_ALARM, { periodInMinutes: NEWS_MINUTES });
  await refreshNews();
}
