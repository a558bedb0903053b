// What was learned: concept graph, clusters with their words, A and B, hops, the judge, links; and learning again.

import { get, path, post } from "../lib/api.js";
import { conceptGraph, heatMap } from "../lib/concepts.js";
import { counted, field, h, number, outside, replace, table, when } from "../lib/dom.js";
import { jobWatch } from "../lib/jobs.js";
import { attempt, oneAtATime, topicHead, topicLink, whenever } from "../lib/shell.js";

const WORDS = 12;
const METHODS = {
  "leave-one-out": "the best F1 on these pages, each useful one left out in turn",
  "expected F1": "the best F1 that the chances of these pages let expect",
  fallback: "a stated default: one useful page leaves nothing to calibrate on",
  given: "chosen by you",
};

export async function model(place, [name]) {
  const jobs = jobWatch(name, () => draw().catch(() => {}));
  let shown = 0;

  const draw = oneAtATime(async () => {
    const [learning] = await Promise.all([get(path`/api/topics/${name}/learning`), jobs.look()]);
    if (!learning.learned) { replace(place, topicHead(name, "model"), jobs.element, notYet(name, jobs, learning)); return; }
    if (learning.learned_at === shown) { replace(place.querySelector(".head"), head(name, jobs, learning)); return; }
    const found = await get(path`/api/topics/${name}/model`);
    shown = learning.learned_at;
    replace(place, topicHead(name, "model"), jobs.element, h("div.head", head(name, jobs, learning)), whole(name, jobs, found));
  });

  await draw();
  const silence = whenever(["session", "topic"], (heard) => { if (!heard.topic || heard.topic === name) draw().catch(() => {}); });
  return () => { silence(); jobs.end(); };
}

function learner(name, jobs, text, kind, asked = () => ({})) {
  const learn = (event) => {
    event.preventDefault();
    if (button.form && !button.form.reportValidity()) return;
    attempt(button, async () => jobs.watch(await post(path`/api/topics/${name}/learn`, asked())));
  };
  const button = h(`button${kind}`, { type: "submit", onclick: learn }, text);
  return button;
}

function notYet(name, jobs, learning) {
  return h("section.card", h("h2", "Nothing has been learned yet"),
    learning.stale ? [h("p", "Trailhound learns from your sessions what the useful pages have in common, and which pages lead to them."), learner(name, jobs, "Learn", ".primary")]
      : [h("p", "There is no session to learn from."), h("a.button.primary", { href: topicLink(name) }, "How to begin")]);
}

function head(name, jobs, learning) {
  return h("div.card.row.apart", h("p.flush", `Learned ${when(learning.learned_at)}.`, learning.stale ? " Sessions or marks have changed since." : ""),
    learner(name, jobs, "Learn again", learning.stale ? ".primary" : ""));
}

function whole(name, jobs, found) {
  const figures = found.diagnosis, links = h("section.card", h("h2", "Links"), h("p.quiet", "Looking …"));
  get(path`/api/topics/${name}/model/links`).then((told) => replace(links, linkLessons(told)), (error) => replace(links, h("p", error.message)));
  const lead = `From ${counted(found.origin.sessions, "session")} of ${counted(found.origin.people, "person", "people")}: ${counted(figures.n_pages, "page")} with ${counted(figures.n_links, "link")} between them.`;
  return [
    advice(name, jobs, found),
    h("p", lead),
    summary(found),
    h("section.card", h("h2", "Concept graph"), h("p.quiet", "Each circle is a cluster of pages, the useful ones in the middle. The number is that of its pages, the colour tells how far they are from a useful one, the width of an arrow how many links there are."),
      inTheMiddle(h("div.concept-place", { tabindex: "0", role: "region", "aria-label": "Concept graph" }, conceptGraph(figures, found.clusters))),
      h("details", h("summary", "Links between clusters as numbers"), table("Links between clusters", ["From / to", ...found.clusters.map((title) => ({ title, number: true }))], figures.concept_links.map((row, at) => [found.clusters[at], ...row.map(number)])))),
    h("h2", "Clusters and their words"),
    h("div.grid.clusters", figures.clusters.map((cluster, at) => clusterCard(cluster, found.clusters[at], found.states))),
    h("section.card", h("h2", "How far pages are from a useful one"), hops(figures.level_sizes, found.states)),
    h("section.card", h("h2", "A: where links lead"), h("p.quiet", "From a page's distance (row) to that of a page it links to (column)."), heatMap("A: where links lead", "from / to", figures.transition, found.states, found.states)),
    h("section.card", h("h2", "B: what pages at each distance look like"), h("p.quiet", "From a page's distance (row) to its cluster (column)."), heatMap("B: what pages look like", "distance", figures.emission, found.states, found.clusters)),
    judges(found),
    links,
    otherParameters(name, jobs, figures.parameters),
  ];
}

/** What is too wide for a phone is first seen from the middle. */
function inTheMiddle(place) {
  requestAnimationFrame(() => { place.scrollLeft = (place.scrollWidth - place.clientWidth) / 2; });
  return place;
}

function advice(name, jobs, found) {
  if (!found.advice.length) return null;
  const actions = {
    mark: () => h("a.button", { href: topicLink(name, "session") }, "Mark pages"),
    browse: () => h("a.button", { href: topicLink(name) }, "Browse more"),
    label: () => found.origin.labels.filter(Boolean).map((label) => learner(name, jobs, `Learn for '${label}'`, "", () => ({ label }))),
  };
  return h("section.card.advice", h("h2", "What would make it better"),
    h("ul.plain", found.advice.map((each) => h("li.row.apart", h("span.words", `${each.problem} `, h("strong", each.next_step)), actions[each.action]?.() ?? null))));
}

function summary(found) {
  const { diagnosis: figures } = found, { judge } = figures;
  const figure = (title, value, more) => h("div", h("dt", title), h("dd", h("span.figure", value), more ? h("span.quiet.small", ` ${more}`) : null));
  const range = judge.f1_range ? `${judge.f1_range[0].toFixed(2)} to ${judge.f1_range[1].toFixed(2)}, nine times in ten` : "too few marks to tell";
  return h("dl.figures.card", figure("Pages", number(figures.n_pages)), figure("Useful", number(figures.n_targets)), figure("Not useful", number(figures.n_rejected)),
    figure("Clusters", number(figures.clusters.length)), figure("Words", number(figures.n_terms)), figure("Judge, F1", judge.f1 === null ? "–" : judge.f1.toFixed(2), range));
}

function clusterCard(cluster, name, states) {
  const far = cluster.by_level.map((count, at) => (count ? `${states[at]}: ${number(count)}` : null)).filter(Boolean).join(" · ");
  return h("article.card", h("h3", `${name[0].toUpperCase()}${name.slice(1)}: ${counted(cluster.pages, "page")}`), h("p.quiet.small", far),
    cluster.log_odds.length ? h("p", cluster.log_odds.slice(0, WORDS).map((word) => [h("span.badge", word.word), " "])) : h("p.quiet", "No word sets these pages apart."),
    h("ul.examples", cluster.examples.slice(0, 3).map((page) => h("li", { dir: "auto" }, outside(page.url, page.title || page.url)))));
}

function hops(sizes, states) {
  const most = Math.max(1, ...sizes);
  return h("table.bars", h("thead.visually-hidden", h("tr", h("th", { scope: "col" }, "Distance"), h("th", { scope: "col" }, "Share"), h("th", { scope: "col" }, "Pages"))),
    h("tbody", sizes.map((size, at) => h("tr", h("th", { scope: "row" }, states[at]), h("td", h("meter", { min: "0", max: String(most), value: size, "aria-label": `${states[at]}: ${counted(size, "page")}` })), h("td.number", number(size))))));
}

function judges(found) {
  const share = (value) => (value === null ? "–" : value.toFixed(2));
  const range = (each) => (each.f1_range ? `${share(each.f1_range[0])} to ${share(each.f1_range[1])}` : "–");
  const heads = ["Judge", ...["Threshold γ", "Precision", "Recall", "F1"].map((title) => ({ title, number: true })), "Nine times in ten", "Threshold from"];
  const rows = Object.entries(found.judges).map(([name, each]) => [name === found.judge ? h("strong", name) : name, each.threshold.toFixed(3), share(each.precision), share(each.recall), share(each.f1), range(each), METHODS[each.method] ?? each.method]);
  return h("section.card", h("h2", "The judge"), h("p.quiet", "A crawl asks ", h("strong", found.judge), ": a page counts as found when its score reaches γ. Each page was scored as if it had not been seen."), table("Judges", heads, rows));
}

function linkLessons(told) {
  if (!told.strategy) return [h("h2", "Links"), h("p.quiet", "The strategy of this topic's crawl does not tell what it has learned about links.")];
  return [h("h2", "Links"), h("p.quiet", `What the strategy ${told.strategy} has learned about links ${told.after_crawl ? "since the crawl began" : "from the sessions"}, in log odds: +0.7 doubles the odds that a page is wanted. In brackets what it was before.`),
    table("What was learned about links", ["Part of the link", "Words and their weight"], Object.entries(told.lessons))];
}

function otherParameters(name, jobs, now) {
  const whole = (value, min, max) => h("input", { type: "number", min, max, step: "1", value, required: true });
  const [states, clusters, rank] = [whole(now.n_states, 2, 6), whole(now.max_clusters, 1, 50), whole(Math.min(now.max_rank, 1000), 1, 1000)];
  const threshold = h("input", { type: "number", min: "0", max: "1", step: "0.001", placeholder: "calibrated" });
  const asked = () => ({ parameters: { n_states: states.valueAsNumber, max_clusters: clusters.valueAsNumber, max_rank: rank.valueAsNumber }, threshold: threshold.value === "" ? null : threshold.valueAsNumber });
  return h("details.card", h("summary", "Learn with other parameters"), h("form.stack", h("div.grid",
    field("Distances", states, "Hops to a useful page that are told apart."), field("Clusters", clusters, "At most so many."), field("Dimensions", rank, "Of the latent space, at most."), field("Threshold γ", threshold, "Empty: calibrated on your marks.")),
  learner(name, jobs, "Learn with these", "", asked)));
}
