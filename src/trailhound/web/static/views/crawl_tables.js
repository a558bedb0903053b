// Tables of a crawl, read when they are opened, and the story of one page.

import { get, path, query } from "../lib/api.js";
import { counted, field, h, number, outside, replace } from "../lib/dom.js";
import { atEase, sentence, steadyTable } from "../lib/crawls.js";
import { attempt } from "../lib/shell.js";

const RULES = {
  calendar: "calendars without end", "long-url": "addresses that are too long", depth: "too deep",
  "host-budget": "hosts that had their share", "out-of-scope": "out of scope", nofollow: "marked as nofollow",
};

/** A button that opens the story of a page. */
export function whyButton(url, explain) {
  return h("button.small", { type: "button", onclick: (event) => explain(event.currentTarget, url), "aria-label": `Why ${url}?` }, "Why?");
}

/** The sections below the curves. Returns {element, refresh()}: only what is open is read again. */
export function crawlTables(topic, explain) {
  const sections = [hosts(topic), waiting(topic, explain), errors(topic), refusals(topic, explain)];
  return {
    element: h("div", sections.map((each) => each.element)),
    refresh: atEase(() => Promise.all(sections.filter((each) => each.element.open).map((each) => each.read()))),
  };
}

function section(title, hint, content, read) {
  const element = h("details.card", h("summary", title), h("p.quiet.small", hint), content);
  element.addEventListener("toggle", () => { if (element.open) attempt(null, read); });
  return { element, read };
}

function hosts(topic) {
  const shown = steadyTable("Hosts", ["Host", { title: "Finds", number: true }, { title: "Pages", number: true }, { title: "Waiting", number: true }, "May be asked"],
    (each) => [h("span.url", each.host), number(each.finds), number(each.pages), number(each.waiting), each.rests_for > 0 ? `in ${each.rests_for} s` : "now"],
    "No host has been asked yet.");
  return section("Hosts", "Those with most finds first.", shown.element, async () => {
    const found = await get(query(path`/api/topics/${topic}/crawl/hosts`, { limit: 100 }));
    shown.show(found.map((each) => ({ ...each, rests_for: Math.ceil(each.rests_for) })));
  });
}

function waiting(topic, explain) {
  const shown = steadyTable("What comes next", ["Address", { title: "Links from a seed", number: true }, { title: "Priority", number: true }, ""],
    (each) => [h("span.url", each.url), number(each.depth), each.priority >= 1e12 ? "first" : each.priority.toPrecision(3), whyButton(each.url, explain)],
    "Nothing waits.");
  return section("What comes next", "The best first, whenever their hosts may be asked.", shown.element, async () =>
    shown.show(await get(query(path`/api/topics/${topic}/crawl/frontier`, { limit: 30 }))));
}

function errors(topic) {
  const shown = steadyTable("What went wrong", ["What", { title: "Times", number: true }, "For example"],
    (each) => [sentence(each.what), number(each.times), h("span.url", each.example)], "Nothing went wrong.");
  return section("What went wrong", "Pages that could not be had, and why.", shown.element, async () =>
    shown.show(await get(path`/api/topics/${topic}/crawl/errors`)));
}

function refusals(topic, explain) {
  const rule = h("select");
  const shown = steadyTable("What was left out", ["Address", "Why", ""],
    (each) => [h("span.url", each.url), sentence(each.reason), whyButton(each.url, explain)], "Nothing was left out.");
  async function read() {
    const found = await get(query(path`/api/topics/${topic}/crawl/refusals`, { limit: 50, rule: rule.value }));
    const chosen = rule.value;
    if (document.activeElement !== rule) {
      replace(rule, h("option", { value: "" }, "all rules"), Object.entries(found.by_rule).map(([name, times]) =>
        h("option", { value: name, selected: name === chosen }, `${RULES[name] ?? name} (${number(times)})`)));
    }
    shown.show(found.some);
  }
  rule.addEventListener("change", () => attempt(null, read));
  return section("What was left out", "Addresses that the crawl's own rules kept away.", h("div.stack", field("By which rule", rule), shown.element), read);
}

/** A panel with the story of a page. Returns {element, explain(button, url)}. */
export function storyPanel(topic) {
  const content = h("div");
  const close = h("button", { type: "button", onclick: () => element.close() }, "Close");
  const element = h("dialog.card", { "aria-label": "Why this page?" }, content, h("div.row", close));
  async function explain(button, url) {
    await attempt(button, async () => {
      replace(content, story(await get(query(path`/api/topics/${topic}/crawl/explain`, { url }))));
      element.showModal();
    });
    if (!element.open) return;
    // The list that it stood in may have moved on.
    element.addEventListener("close", () => (button.isConnected ? button : document.getElementById("content")).focus({ preventScroll: true }), { once: true });
  }
  return { element, explain };
}

function story(told) {
  return [
    h("h2", "Why this page?"),
    h("p.url", outside(told.url)),
    h("p", h("strong", told.because)),
    told.details.length ? h("ul", told.details.map((each) => h("li.wrap", each))) : null,
    told.reasons.length ? [h("h3", "What moved its priority"), h("p.quiet.small", "In log odds: +0.7 doubles the odds."),
      h("ul.reasons", told.reasons.map((each) => h("li", h("span.figure-small", each.moved === null ? "" : signed(each.moved)), h("span.wrap", each.words))))] : null,
    Object.keys(told.belief).length ? [h("h3", "What the strategy expected behind the link"), beliefs(told.belief)] : null,
    told.path.length > 1 ? [h("h3", `The path to it, ${counted(told.path.length - 1, "link")}`), h("ol", told.path.map((each) => h("li.url", each)))] : null,
  ];
}

const signed = (value) => (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(1);

/** Probabilities as shares; otherwise ratios to the average page, where 1 is no difference. */
function beliefs(belief) {
  const all = Object.entries(belief);
  const areRatios = all.reduce((sum, [, value]) => sum + value, 0) > 1.01;
  return h("ul.reasons", all.map(([name, value]) =>
    h("li", h("span.figure-small", areRatios ? `${value.toFixed(2)}×` : `${(100 * value).toFixed(1)} %`), h("span.wrap", name))));
}
