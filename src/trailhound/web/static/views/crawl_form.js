// How a crawl begins: where, by which strategy, how long, how politely; and how one goes on.

import { get, path, post, remove } from "../lib/api.js";
import { check, counted, field, h, replace } from "../lib/dom.js";
import { attempt, isResting, rest, topicLink } from "../lib/shell.js";

/** More than any crawl makes, or waits: what is larger is a slip of the finger. */
export const MAX_REQUESTS = "1000000000", MAX_DELAY_SECONDS = "86400";
const DURATION = "\\s*(\\d+(\\.\\d+)?|(\\d+(\\.\\d+)?\\s*[smhdSMHD]\\s*)+)\\s*";

const lines = (text) => text.split(/\s*\n\s*/).filter(Boolean);

/** The form of a new crawl; begun() is called when it runs. mode: "new" or "restart". */
export async function startForm(topic, { mode, learned, setup, begun }) {
  const choices = await get(path`/api/topics/${topic}/crawl/choices`);
  const seeds = seedFields(choices, setup);
  const strategy = strategyFields(choices, setup);
  const limits = limitFields(choices, setup);
  const manners = mannerFields(choices, setup);
  const bounds = boundFields(setup, choices.playground);
  const access = accessFields(choices, setup);
  const words = learned ? null : h("input", { type: "text", placeholder: "hive \"honey bee\" varroa", value: setup?.words ?? "" });
  const trouble = h("p.trouble", { role: "alert", hidden: true });
  const button = h("button.primary", { type: "submit" }, mode === "new" ? "Start the crawl" : "Begin anew");

  async function start(event) {
    event.preventDefault();
    const said = { mode, ...seeds.said(), ...strategy.said(), ...limits.said(), ...manners.said(), ...bounds.said(), ...access.said() };
    if (words?.value) said.words = words.value;
    await trying(button, trouble, "Starting …", async () => {
      await post(path`/api/topics/${topic}/crawl/start`, said);
      await begun();
    });
  }
  return h("form.stack", { onsubmit: start, "aria-label": "A new crawl" },
    choices.playground ? h("p.card", "This topic is about the demo web. The app serves it on this machine: a crawl of it disturbs nobody, and takes a minute or so.") : null,
    words && h("div.card", h("p", "Nothing has been learned for this topic yet. ", h("a", { href: topicLink(topic) }, "Learn from a session"), " first, or say which words make a page useful."),
      field("Words of useful pages", words)),
    seeds.element, strategy.element, limits.element, manners.element, bounds.element, access.element, trouble, h("div.row", button));
}

/** Lets a form send something; what was refused is told beside the button, in the server's words. */
async function trying(button, trouble, meanwhile, work) {
  if (isResting(button)) return;
  const title = button.textContent;
  rest(button, true);
  button.textContent = meanwhile;
  trouble.hidden = true;
  try {
    await work();
  } catch (error) {
    replace(trouble, error.message);
    trouble.hidden = false;
  } finally {
    rest(button, false);
    button.textContent = title;
  }
}

function seedFields(choices, setup) {
  const before = (setup?.seeds ?? []).filter((url) => !choices.seeds.some((seed) => seed.url === url))
    .map((url) => ({ url, reason: "the last crawl started there" }));
  const offered = [...choices.seeds, ...before].map(({ url, reason, usual }) => {
    const box = h("input", { type: "checkbox", checked: setup ? setup.seeds.includes(url) : usual });
    return { url, box, element: check(box, h("span.url", url), h("span.hint", reason)) };
  });
  const more = h("textarea", { rows: offered.length ? "2" : "4", placeholder: "https://example.org/", spellcheck: "false" });
  const hint = offered.length ? "One in a line." : "Good pages to start from link to many others: directories, lists, homepages. One in a line.";
  return {
    element: h("fieldset.stack", h("legend", "Where to start"),
      offered.length ? h("p.quiet.small", "Pages of your sessions that led on to useful ones. The strategy trail tries what else your sessions have shown as well, where you marked a page on the same site.") : null,
      offered.map((each) => each.element), field(offered.length ? "More pages" : "Pages", more, hint)),
    said: () => ({ seeds: [...offered.filter((each) => each.box.checked).map((each) => each.url), ...lines(more.value)] }),
  };
}

function strategyFields(choices, setup) {
  const wanted = choices.strategies.some((each) => each.name === setup?.strategy) ? setup.strategy : choices.strategy;
  const select = h("select", choices.strategies.map((each) => h("option", { value: each.name, selected: each.name === wanted }, each.name)));
  const words = h("p.quiet", { "aria-live": "polite" });
  const show = () => replace(words, choices.strategies.find((each) => each.name === select.value)?.words ?? "");
  select.addEventListener("change", show);
  show();
  return {
    element: h("fieldset.stack", h("legend", "Which links first"), field("Strategy", select), words),
    said: () => ({ strategy: select.value }),
  };
}

function limitFields(choices, setup) {
  const requests = h("input", { type: "number", min: "1", max: MAX_REQUESTS, step: "1", required: true, value: setup?.max_requests ?? choices.max_requests });
  const time = h("input", { type: "text", placeholder: "8h", pattern: DURATION, title: "Write it like 90s, 30m, 2h, 1h30m or 1d; a number alone is seconds." });
  return {
    element: h("fieldset", h("legend", "When to end"), h("div.columns",
      field("Requests at most", requests, "Every page asked for is one, also those that fail."),
      field("Time at most", time, "For example 30m or 8h; empty: until the requests are made."))),
    said: () => ({ max_requests: Number(requests.value), max_time: time.value.trim() }),
  };
}

function mannerFields(choices, setup) {
  const agent = h("input", { type: "text", value: setup?.user_agent || choices.user_agent, placeholder: "bees-bot (+https://example.org/bot)", spellcheck: "false" });
  const delay = h("input", { type: "number", min: "0", max: MAX_DELAY_SECONDS, step: "any", placeholder: String(choices.delay_seconds), value: setup?.delay_seconds ?? "" });
  return {
    element: h("fieldset", h("legend", "Politeness"), h("div.columns",
      field("Who is crawling", agent, "A name and a way to reach you: sites are told it with every request. Remembered for other crawls."),
      field("Seconds between requests to one site", delay, "More is kinder. robots.txt is always obeyed."))),
    said: () => ({ user_agent: agent.value.trim(), delay_seconds: delay.value === "" ? null : Number(delay.value) }),
  };
}

function boundFields(setup, playground) {
  const list = (name, example) => h("textarea", { rows: "2", placeholder: example, spellcheck: "false", value: (setup?.[name] ?? []).join("\n") });
  const same = h("input", { type: "checkbox", checked: setup?.same_domain ?? false });
  const maps = h("input", { type: "checkbox" });
  const scope = list("scope", "*.example.org"), exclude = list("exclude", "https://example.org/shop/");
  const inside = list("allow_addresses", "*.intranet.example"), where = list("resolve", "wiki.intranet.example=10.0.0.7:8080");
  return {
    element: h("details.card", { open: Boolean(setup?.scope.length || setup?.exclude.length) }, h("summary", "Where it may go"), h("div.stack",
      check(same, "Stay on the domains of the pages it starts from"),
      check(maps, "Start from the sites' own lists of pages (sitemaps and feeds) as well"),
      h("div.columns",
        field("Stay in", scope, "Hosts, or beginnings of addresses, one in a line; empty: the whole web."),
        field("Never go to", exclude, "Hosts, or beginnings of addresses, one in a line."),
        playground ? null : [
          field("Hosts of your own network", inside, "That may be visited although their addresses are not public."),
          field("Where hosts are", where, "HOST=ADDRESS:PORT, for hosts that DNS does not know.")]))),
    said: () => ({ same_domain: same.checked, sitemaps: maps.checked, scope: lines(scope.value), exclude: lines(exclude.value),
      ...(playground ? {} : { allow_addresses: lines(inside.value), resolve: lines(where.value) }) }),
  };
}

/** Hosts whose cookies the user has handed over: the extension has a button for that. */
function accessFields(choices, setup) {
  const hosts = choices.access.map(({ host, cookies, headers }) => {
    const box = h("input", { type: "checkbox", checked: setup?.as_me.includes(host) ?? false });
    const button = h("button.small", { type: "button", title: `Removes the cookies of ${host}` }, "Forget");
    const kept = [cookies && counted(cookies, "cookie"), headers.length && counted(headers.length, "header")].filter(Boolean).join(", ");
    const element = h("div.row", check(box, h("span.url", host), h("span.hint", `${kept} of yours`)), button);
    button.addEventListener("click", () => attempt(button, async () => {
      await remove(path`/api/access/${host}`);
      box.checked = false;
      element.remove();
    }));
    return { host, box, element };
  });
  return {
    element: hosts.length ? h("details.card", { open: Boolean(setup?.as_me.length) }, h("summary", "Read as you"), h("div.stack",
      h("p.quiet", "Hosts whose cookies you have handed over. What is ticked is read as you see it, private pages included; the cookies go to that host alone."),
      hosts.map((each) => each.element))) : null,
    said: () => (hosts.length ? { as_me: hosts.filter((each) => each.box.checked).map((each) => each.host) } : {}),
  };
}

/** Goes on with a crawl that has ended. */
export function goOnForm(topic, crawl, begun) {
  const left = crawl.max_requests ? crawl.max_requests - crawl.requests : 0;
  const more = h("input.narrow", { type: "number", min: "1", max: MAX_REQUESTS, step: "1", required: true, value: left > 0 ? left : 1000 });
  const trouble = h("p.trouble", { role: "alert", hidden: true });
  const button = h("button.primary", { type: "submit" }, "Go on");
  const refresh = h("button", { type: "button", title: "Goes on, and first asks whether the finds have changed" }, "Look for changes");

  const send = (pressed, mode) => trying(pressed, trouble, "Starting …", async () => {
    await post(path`/api/topics/${topic}/crawl/start`, { mode, max_requests: crawl.requests + Number(more.value) });
    await begun();
  });
  refresh.addEventListener("click", () => { if (refresh.form.reportValidity()) send(refresh, "refresh"); });
  return h("form", { onsubmit: (event) => { event.preventDefault(); send(button, "resume"); }, "aria-label": "Go on with the crawl" },
    h("div.row", button, h("label.row.bare", h("span", "with up to"), more, h("span", "more requests")), refresh), trouble);
}
