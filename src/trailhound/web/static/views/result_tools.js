// What can be done with all results: learn from marks, export, publish; and how far that is.

import { download, get, path, post, put, query, remove } from "../lib/api.js";
import { counted, field, h, outside, replace } from "../lib/dom.js";
import { attempt, notice, oneAtATime, whenever } from "../lib/shell.js";

const FORMATS = [
  ["csv", "CSV, for spreadsheets"], ["jsonl", "JSON lines"], ["parquet", "Parquet"], ["urls", "Addresses only"],
  ["markdown", "Markdown, a file for each page"], ["text", "Text, a file for each page"], ["warc", "WARC, as received"], ["site", "Web site with search"],
];
const SHOWN_KINDS = /^(learn|rejudge|index|export-)/;
/** Of which the end is told; whoever exports is told by the download. */
const TOLD_KINDS = new Set(["learn", "rejudge"]);

export function resultTools(state) {
  const jobs = h("div");
  const why = h("span");
  const marks = h("p.card.row.apart", { hidden: true }, why,
    h("button.primary", { onclick: (event) => attempt(event.currentTarget, () => learn(state)) }, "Learn from them, and judge all pages again"));
  let running = [];

  /** Offers to learn as long as there is something new to learn from, and nobody is at it. */
  async function showMarks() {
    const { learned, stale } = await get(path`/api/topics/${state.topic}/learning`);
    why.textContent = `${learned ? "Marks or sessions have changed since the last learning." : "Nothing has been learned from sessions and marks yet."} Marks count already.`;
    marks.hidden = !stale || running.some((job) => job.kind === "learn");
  }

  async function showJobs() {
    const all = (await get("/api/jobs")).filter((job) => job.topic === state.topic && SHOWN_KINDS.test(job.kind));
    const now = all.filter((job) => job.state === "running");
    const ended = all.filter((job) => job.state !== "running" && running.some((each) => each.id === job.id));
    for (const job of ended) if (TOLD_KINDS.has(job.kind)) notice(job.message, job.state === "failed");
    if (ended.some((job) => TOLD_KINDS.has(job.kind))) state.judgedAgain();
    running = now;
    if (!state.crawl) await showMarks();  // pages of earlier crawls are not judged again
    replace(jobs, now.map((job) => h("div.card", h("p.row.apart", h("span", job.message || "Begins …"),
      h("button", { onclick: (event) => attempt(event.currentTarget, () => post(`/api/jobs/${job.id}/stop`)) }, "Stop")),
      h("progress", { max: "1", value: job.share ?? undefined, "aria-label": job.message || "Progress" }))));
  }

  const look = oneAtATime(showJobs);
  state.lookAtJobs = () => look().catch(() => {});
  state.lookAtJobs();
  const end = whenever(["job", "topic", "session"], (happening) => { if (happening.topic === state.topic || happening.kind === "awake") state.lookAtJobs(); });
  return { element: h("section", { "aria-label": "What goes on" }, marks, jobs), menus: h("div.row", exportMenu(state), state.crawl ? null : portalMenu(state)), end };
}

async function learn(state) {
  await post(path`/api/topics/${state.topic}/learn`);
  notice("Learning from sessions and marks; then every archived page is judged again.");
}

function exportMenu(state) {
  const base = path`/api/topics/${state.topic}/exports`;
  const format = h("select", FORMATS.map(([value, title]) => h("option", { value }, title)));
  const isNew = h("input", { type: "checkbox" });
  const button = h("button.primary", { onclick: () => attempt(button, write) }, "Export");

  async function write() {
    const { crawl } = state;
    const job = await ended(await post(base, { crawl, format: format.value, new: isNew.checked }));
    if (job.state !== "done") { notice(job.message, true); return; }
    const ready = (await get(query(base, { crawl }))).find((each) => each.format === format.value);
    await download(query(`${base}/${format.value}`, { crawl }), ready.file_name);
    notice(job.message);
  }

  const about = h("p.quiet.small", { role: "status" });
  const shown = menu("Export", about, field("Format", format), h("label.check", isNew, "Only pages that were not in my sessions"), button);
  /** Search and filters are for looking: exports know nothing of them. */
  const tell = async () => {
    const { count } = await get(query(`${state.base}/count`, { crawl: state.crawl }));
    about.textContent = `Taken from ${count === 1 ? "the one find" : `all ${counted(count, "find")}`}, whatever is searched for or filtered here.`;
  };
  shown.addEventListener("toggle", () => { if (shown.open) attempt(null, tell); });
  return shown;
}

/** The job once it has ended; a happening wakes the look, and so does a second. */
async function ended(job) {
  while (job.state === "running") {
    await new Promise((woken) => {
      const quiet = whenever(["job"], () => { quiet(); woken(); });
      setTimeout(() => { quiet(); woken(); }, 1000);
    });
    job = await get(`/api/jobs/${job.id}`);
  }
  return job;
}

function portalMenu(state) {
  const base = path`/api/topics/${state.topic}/portal`;
  const inside = h("div.stack");

  function draw(portal) {
    if (portal.published) {
      replace(inside, h("p", "Everybody who reaches this machine's portal may search what was found, and nothing else."),
        portal.address ? h("p", outside(portal.address)) : null,
        h("button.danger", { onclick: (event) => attempt(event.currentTarget, async () => draw(await remove(base))) }, "Take it back"));
      return;
    }
    const title = h("input", { type: "text", maxlength: "200", value: portal.title, placeholder: state.topic });
    const description = h("input", { type: "text", maxlength: "1000", value: portal.description });
    const button = h("button.primary", { onclick: () => attempt(button, async () => draw(await put(base, { title: title.value, description: description.value }))) }, "Publish");
    replace(inside, h("p", "A portal lets others search what was found: titles, texts, languages and days. Your sessions, marks and scores stay here."),
      field("Title", title), field("What it is about", description), button);
  }

  const shown = menu("Portal", inside);
  shown.addEventListener("toggle", () => { if (shown.open && !inside.childElementCount) attempt(null, async () => draw(await get(base))); });
  return shown;
}

/** What opens below a button; another one, Escape and a click elsewhere close it. */
function menu(title, ...content) {
  const summary = h("summary.button", title);
  const shown = h("details.menu", { onkeydown: (event) => { if (event.key === "Escape") { shown.open = false; summary.focus(); } } },
    summary, h("div.card.stack", content));
  // What was pressed may be gone by now: its place is known from the way the click took.
  const elsewhere = (event) => { if (!event.composedPath().includes(shown)) shown.open = false; };
  shown.addEventListener("toggle", () => {
    if (shown.open) document.addEventListener("click", elsewhere);
    else document.removeEventListener("click", elsewhere);
  });
  return shown;
}
