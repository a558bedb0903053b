// What is being done for a topic: progress while it goes on, and a word when it has ended.

import { get, path, post } from "./api.js";
import { h, replace } from "./dom.js";
import { attempt, notice, whenever } from "./shell.js";

const TITLES = { learn: "Learning", rejudge: "Judging again", forget: "Forgetting", import: "Importing" };

/** {element, watch, end}: a place for the jobs of a topic; ended(job) is called once for each that ends. */
export function jobWatch(topic, ended = () => {}) {
  const element = h("div", { "aria-live": "polite" });
  const running = new Set();
  let asked = 0, answered = 0, now = [];
  async function look() {
    const mine = ++asked;
    const jobs = (await get("/api/jobs")).filter((job) => job.topic === topic);
    if (mine < answered) return now;
    answered = mine;
    now = jobs.filter((job) => job.state === "running");
    for (const job of jobs) if (running.delete(job.id) && job.state !== "running") tell(job, ended);
    now.forEach((job) => running.add(job.id));
    replace(element, now.map(card));
    return now;
  }
  const silence = whenever(["job"], (heard) => { if (!heard.topic || heard.topic === topic) look().catch(() => {}); });
  return {
    element,
    look,
    /** Begins to watch a job that was just started. */
    watch(job) { if (job) running.add(job.id); return look(); },
    end: silence,
  };
}

function tell(job, ended) {
  notice(job.message, job.state === "failed");
  ended(job);
}

function card(job) {
  const stop = h("button", { onclick: () => attempt(stop, () => post(path`/api/jobs/${job.id}/stop`)) }, "Stop");
  return h("section.card", { "aria-label": TITLES[job.kind] ?? job.kind },
    h("div.row.apart", h("h2", `${TITLES[job.kind] ?? job.kind} …`), ["rejudge", "import"].includes(job.kind) ? stop : null),
    h("p.quiet", job.message || "It has begun."),
    h("progress", { max: "1", value: job.share ?? undefined, "aria-label": `${TITLES[job.kind] ?? job.kind}: progress` }));
}
