// The crawls of all topics, and what else goes on.

import { get, path, post } from "../lib/api.js";
import { h, number, replace, when } from "../lib/dom.js";
import { duration, isAlive, ofBudget, perHundred, ranFor, stateBadge, stateInWords } from "../lib/crawls.js";
import { attempt, oneAtATime, topicLink, whenever } from "../lib/shell.js";

const JOBS = { learn: "Learning", rejudge: "Judging again", lab: "An experiment" };

export async function crawls(place) {
  const cards = new Map();
  const list = h("div.grid.wide");
  const jobs = h("section");
  const none = h("p.quiet", "No topic has been crawled yet. Open a topic and press Crawl.");

  const draw = oneAtATime(async () => {
    const [found, going] = await Promise.all([get("/api/crawls"), get("/api/jobs")]);
    none.hidden = found.length > 0;
    found.forEach((crawl, at) => {
      if (!cards.has(crawl.topic)) cards.set(crawl.topic, crawlCard(crawl.topic, draw));
      const card = cards.get(crawl.topic);
      card.show(crawl);
      if (list.children[at] !== card.element) list.insertBefore(card.element, list.children[at] ?? null);
    });
    const present = new Set(found.map((crawl) => crawl.topic));
    for (const [topic, card] of cards) if (!present.has(topic)) { card.element.remove(); cards.delete(topic); }
    replace(jobs, jobsInWords(going));
  });
  replace(place, h("h1", "Crawls"), none, list, jobs);
  await draw();
  return whenever(["crawl", "job", "topic"], () => draw().catch(() => {}));
}

function crawlCard(topic, draw) {
  const badge = h("span"), words = h("p.small"), buttons = h("div.row"), bar = h("progress", { max: "1", "aria-label": `Budget of ${topic}` });
  const figures = h("dl.figures");
  let state = "";
  const ask = (what, body) => (event) => attempt(event.currentTarget, async () => { await post(path`/api/topics/${topic}/crawl/${what}`, body); await draw(); });

  function show(crawl) {
    const titles = [["Requests", ofBudget(crawl)], ["Finds", number(crawl.finds)], ["Per 100 requests", perHundred(crawl)],
      ["Pages a second", isAlive(crawl) ? crawl.pages_per_second.toFixed(1) : "–"], ["Time", duration(ranFor(crawl))]];
    replace(figures, titles.map(([title, value]) => h("div", h("dt", title), h("dd", value))));
    replace(words, stateInWords(crawl));
    bar.value = crawl.share_done;
    bar.hidden = !isAlive(crawl);
    if (state === crawl.state) return;
    state = crawl.state;
    replace(badge, stateBadge(crawl));
    replace(buttons, isAlive(crawl)
      ? [h("button", { onclick: ask("pause"), "aria-disabled": state === "stopping" ? "true" : null, "aria-label": `Pause ${topic}` }, "Pause"),
        h("button.danger", { onclick: ask("stop"), "aria-disabled": state === "stopping" ? "true" : null, "aria-label": `Stop ${topic}` }, "Stop")]
      : ["paused", "cut-short"].includes(state) ? h("button.primary", { onclick: ask("start", { mode: "resume" }), "aria-label": `Go on with ${topic}` }, "Go on")
        : h("a.button", { href: topicLink(topic, "crawl"), "aria-label": `Open ${topic}` }, "Open"));
  }
  return {
    element: h("article.card", h("div.row.apart", h("h2.flat", { dir: "auto" }, h("a", { href: topicLink(topic, "crawl") }, topic)), badge), words, bar, figures, buttons),
    show,
  };
}

function jobsInWords(jobs) {
  const shown = jobs.filter((job) => job.state !== "done").slice(0, 8);
  if (!shown.length) return [];
  return [h("h2", "What else went on"), h("ul.card.bare.stack", shown.map((job) => h("li",
    h("span.badge", { class: { running: "good", failed: "bad", "cut short": "bad" }[job.state] ?? "" }, job.state), " ",
    h("strong", [JOBS[job.kind] ?? job.kind, job.topic].filter(Boolean).join(": ")), ` ${job.message} `,
    h("span.quiet.small", when(job.started_at)))))];
}
