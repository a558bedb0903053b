// A topic's crawl: begun here, or watched while it runs, wherever it was started.

import { get, path, post } from "../lib/api.js";
import { lineChart } from "../lib/charts.js";
import { counted, h, number, outside, replace } from "../lib/dom.js";
import { atEase, duration, isAlive, ofBudget, perHundred, ranFor, sentence, stateBadge, stateInWords, steadily } from "../lib/crawls.js";
import { attempt, oneAtATime, topicHead, topicLink, whenever } from "../lib/shell.js";
import { goOnForm, startForm } from "./crawl_form.js";
import { crawlTables, storyPanel, whyButton } from "./crawl_tables.js";

const FIGURES = [
  ["Requests", ofBudget],
  ["Addresses dealt with", (crawl) => number(crawl.pages)],
  ["Finds", (crawl) => number(crawl.finds)],
  ["Per 100 requests", perHundred],
  ["Waiting", (crawl) => number(crawl.waiting)],
  ["Hosts", (crawl) => number(crawl.hosts_waiting)],
  ["Pages a second", (crawl) => (isAlive(crawl) ? crawl.pages_per_second.toFixed(1) : "–")],
  ["Time", (crawl) => duration(ranFor(crawl))],
  ["Left", (crawl) => (isAlive(crawl) ? duration(crawl.seconds_left) : "–")],
];

export async function crawl(place, [topic]) {
  let watched = null;
  const draw = oneAtATime(async () => {
    const view = await get(path`/api/topics/${topic}/crawl`);
    if (view.crawl === null) return drawStart(view);
    if (watched === null) {
      // It may yet fail to begin, which is told in the form.
      if (view.crawl.state === "starting" && place.childElementCount > 0) return;
      watched = watch(topic, draw);
      replace(place, topicHead(topic, "crawl"), watched.element);
    }
    return watched.show(view);
  });
  async function drawStart(view) {
    if (watched === null && place.childElementCount > 0) return;  // what is being typed stays
    watched = null;
    const form = await startForm(topic, { mode: "new", learned: view.learned, setup: null, begun: draw });
    replace(place, topicHead(topic, "crawl"), h("p", "The crawl runs as a process of its own: it goes on when you close the app."), form);
  }
  await draw();
  return whenever(["crawl"], (happening) => {
    if (happening.kind === "awake" || happening.topic === topic) draw().catch(() => {});
  });
}

/** Everything about a crawl that there is. Returns {element, show(view)}. */
function watch(topic, draw) {
  const panel = storyPanel(topic);
  const status = statusCard(topic, draw);
  const figures = FIGURES.map(() => h("dd.figure"));
  const curves = curveCards(topic);
  const latest = h("ul.bare.rows");
  const latestCard = h("section.card", h("h2", "Last pages"), latest);
  const showLatest = steadily(latest, (page) => latestPage(page, panel.explain));
  const tables = crawlTables(topic, panel.explain);
  const anew = h("details.card", h("summary", "Begin anew"));
  const setup = h("dl.setup");
  let last = null;

  anew.addEventListener("toggle", () => { if (anew.open && anew.childElementCount === 1) attempt(null, async () => anew.append(
    h("p.quiet", "The crawl that there is stays beside the new one."),
    await startForm(topic, { mode: "restart", learned: last.learned, setup: last.setup, begun: async () => { anew.open = false; await draw(); } }))); });

  async function show(view) {
    const moved = last === null || last.crawl.requests !== view.crawl.requests || last.crawl.run !== view.crawl.run || last.crawl.state !== view.crawl.state;
    last = view;
    status.show(view);
    FIGURES.forEach(([, value], at) => replace(figures[at], value(view.crawl)));
    showLatest(view.crawl.latest.slice(0, 12));
    latestCard.hidden = !view.crawl.latest.length;
    anew.hidden = isAlive(view.crawl);
    replace(setup, setupInWords(view.setup));
    if (moved && view.setup) await Promise.all([curves.refresh(), tables.refresh()]);
  }
  return {
    element: h("div",
      status.element,
      h("dl.figures.card", FIGURES.map(([title], at) => h("div", h("dt", title), figures[at]))),
      curves.element,
      latestCard,
      tables.element,
      h("details.card", h("summary", "How it is set up"), setup),
      anew, panel.element),
    show,
  };
}

function statusCard(topic, draw) {
  const words = h("p", { role: "status" });
  const badge = h("span");
  const bar = h("progress", { max: "1", "aria-label": "Share of the budget that is spent" });
  const buttons = h("div");
  const notices = h("ul.small.bare");
  let shown = "";

  function show({ crawl: now, earlier }) {
    const told = stateInWords(now);
    if (words.textContent !== told) replace(words, told);
    bar.value = now.share_done;
    bar.hidden = !isAlive(now);
    replace(notices, now.notices.slice(0, 4).map((each) => h("li.wrap", sentence(each.text))));
    const key = `${now.run} ${now.state} ${isAlive(now) ? "" : now.requests}`;
    if (key === shown) return;
    shown = key;
    replace(badge, stateBadge(now), earlier ? h("span.quiet.small", ` ${counted(earlier, "earlier crawl")} kept`) : null);
    replace(buttons, isAlive(now) ? liveButtons(topic, now, draw) : goOnForm(topic, now, draw));
  }
  return {
    element: h("section.card", { "aria-label": "The crawl" },
      h("div.row.apart", h("div.row", h("h2.flat", "Crawl"), badge), h("a", { href: topicLink(topic, "results") }, "Results")),
      words, bar, buttons, notices),
    show,
  };
}

function liveButtons(topic, now, draw) {
  const ask = (what) => (event) => attempt(event.currentTarget, async () => {
    await post(path`/api/topics/${topic}/crawl/${what}`);
    await draw();
  });
  const stopping = now.state === "stopping";
  return h("div.row",
    h("button", { onclick: ask("pause"), "aria-disabled": stopping ? "true" : null }, "Pause"),
    h("button.danger", { onclick: ask("stop"), "aria-disabled": stopping ? "true" : null }, "Stop"));
}

function latestPage(page, explain) {
  const found = page.relevant ? h("span.badge.good", "find") : page.outcome === "fetched" ? null : h("span.badge", page.outcome.replaceAll("-", " "));
  return h("li", h("div.grow", page.title ? h("div.wrap", { dir: "auto" }, page.title) : null, h("div.url", outside(page.url))),
    h("div.row.end", found, h("span.quiet.small", page.score === null ? "" : `score ${page.score.toFixed(2)}`), whyButton(page.url, explain)));
}

function setupInWords(setup) {
  if (!setup) return [];
  const rows = [
    ["Strategy", setup.strategy], ["Judge", setup.judge], ["Who is crawling", setup.user_agent || "–"],
    ["Seconds between requests to a site", setup.delay_seconds ?? "as usual"],
    ["Budget", [setup.max_requests ? counted(setup.max_requests, "request") : null, setup.max_seconds ? `${duration(setup.max_seconds)} a run` : null].filter(Boolean).join(", ") || "as usual"],
    ["Where it may go", [setup.same_domain ? "the domains of its seeds" : null, ...setup.scope].filter(Boolean).join(", ") || "the whole web"],
    ["Never to", setup.exclude.join(", ") || "–"],
    ["Seeds", h("ul.bare", setup.seeds.map((url) => h("li.url", url)))],
  ];
  return rows.flatMap(([title, value]) => [h("dt", title), h("dd", value)]);
}

/** Finds and similarity against requests. */
function curveCards(topic) {
  const finds = h("div"), similarity = h("div");
  let points = [], width = 0;
  const refresh = atEase(async () => { points = await get(path`/api/topics/${topic}/crawl/curve`); draw(); });
  // Known once it is on the screen: letters keep their size, however wide it is.
  new ResizeObserver(() => { if (width !== finds.clientWidth) draw(); }).observe(finds);
  function draw() {
    width = finds.clientWidth;
    const last = points.at(-1) ?? { requests: 0, finds: 0 };
    replace(finds, lineChart({
      series: [{ points: [[0, 0], ...points.map((each) => [each.requests, each.finds])] }],
      xTitle: "requests", yTitle: "finds", width,
      description: `${counted(last.finds, "find")} after ${counted(last.requests, "request")}.`,
    }));
    const { recent, overall } = similarities(points);
    replace(similarity, lineChart({
      series: [{ points: recent }, { points: overall, second: true }], xTitle: "requests", yTitle: "mean score", width,
      description: recent.length ? `The mean score of the last pages is ${recent.at(-1)[1].toFixed(2)}, of all ${overall.at(-1)[1].toFixed(2)}.` : "No page has been judged yet.",
    }));
  }
  return {
    element: h("div.grid.wide",
      h("section.card", h("h2", "Finds"), finds),
      h("section.card", h("h2", "Similarity to useful pages"), similarity, h("p.quiet.small.flat", "Line: the last pages. Dashed: all so far."))),
    refresh,
  };
}

/** Means of the last twentieth of the points, and of all so far, weighted by pages. */
function similarities(points) {
  const judged = points.map((each, at) => ({ ...each, weight: each.pages - (points[at - 1]?.pages ?? 0) })).filter((each) => each.mean_score !== null);
  const width = Math.max(5, Math.round(judged.length / 20));
  const mean = (some) => some.reduce((sum, each) => sum + each.mean_score * each.weight, 0) / some.reduce((sum, each) => sum + each.weight, 0);
  let sum = 0, weight = 0;
  return {
    recent: judged.map((each, at) => [each.requests, mean(judged.slice(Math.max(0, at + 1 - width), at + 1))]),
    overall: judged.map((each) => { sum += each.mean_score * each.weight; weight += each.weight; return [each.requests, sum / weight]; }),
  };
}
