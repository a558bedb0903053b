// The lab: strategies compared on a recorded web, where the answers are known.

import { get, path, post } from "../lib/api.js";
import { counted, field, h, number, replace, table } from "../lib/dom.js";
import { attempt, isResting, notice, rest, whenever } from "../lib/shell.js";

/** Of the first experiment; later ones get a number. */
const FIRST_NAME = "first-try";
/** Of a name to which a number is added: the server takes 61 signs. */
const STEM_CHARS = 50;
const DEFAULTS = ["trail", "best-first", "breadth-first"];

export async function lab(place) {
  const report = h("section");
  const runs = h("section.card");
  const found = await get("/api/lab");
  const asked = form(found, drawRuns);
  async function drawRuns() {
    const [now, jobs] = await Promise.all([get("/api/lab"), get("/api/jobs")]);
    asked.suggest(now.runs);
    replace(runs, runList(now.runs, jobs.filter((job) => job.kind === "lab"), report));
  }
  replace(place, h("h1", "Lab"),
    h("p", "How would another strategy have done? The lab crawls a recorded web, in which it is known what there is to find, once with each, and counts every request."),
    asked.element, runs, report);
  await drawRuns();
  return whenever(["job"], () => drawRuns().catch(() => {}));
}

const isFinished = (name, runs) => runs.some((run) => run.name === name && run.finished);

/** The name itself, unless a finished experiment has it: then with the first number that is free. */
function freeName(name, runs) {
  if (!isFinished(name, runs)) return name;
  const taken = new Set(runs.map((run) => run.name));
  const stem = name.replace(/-\d+$/, "").slice(0, STEM_CHARS);
  let number = 2;
  while (taken.has(`${stem}-${number}`)) number += 1;
  return `${stem}-${number}`;
}

/** {element, suggest}: suggest(runs) puts a free name in the place of one that was just run. */
function form(found, started) {
  const corpus = h("select", found.corpora.map((each) => h("option", { value: each.name },
    each.megabytes === null ? `${each.name} (made at first use)` : `${each.name} (${each.megabytes.toFixed(1)} MB)`)));
  const topics = h("select", { multiple: true, size: "6" });
  const boxes = found.strategies.map((each) => h("label.check",
    h("input", { type: "checkbox", value: each.name, checked: DEFAULTS.includes(each.name) }), h("span", h("strong", each.name), ` – ${each.summary}`)));
  const requests = h("input", { type: "number", min: "1", max: "1000000", required: true, value: "150" });
  const sets = h("input", { type: "number", min: "1", max: "100", required: true, value: "1" });
  const name = h("input", { type: "text", required: true, value: freeName(FIRST_NAME, found.runs), pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,60}" });
  const button = h("button.primary", { type: "submit" }, "Run");
  const busy = h("p.quiet", { role: "status" });
  const made = new Set(found.corpora.filter((each) => each.megabytes !== null).map((each) => each.name));
  /** One thing at a time; what makes a recorded web first takes a while, and says so. */
  const patiently = async (work) => {
    if (isResting(button)) return;
    const { value } = corpus;
    for (const each of [look, button]) rest(each, true);
    replace(busy, made.has(value) ? null : "The recorded web is being made, this first time only. It may take half a minute …");
    await attempt(null, async () => { await work(); made.add(value); });
    replace(busy);
    for (const each of [look, button]) rest(each, false);
  };
  const fillTopics = async () => {
    const list = await get(path`/api/lab/corpora/${corpus.value}/topics`);
    replace(topics, list.filter((each) => !each.problem).map((each) => h("option", { value: each.topic }, `${each.topic} (${counted(each.relevant ?? 0, "relevant page")})`)));
  };
  const look = h("button", { type: "button", onclick: () => patiently(fillTopics) }, "Show topics");
  corpus.addEventListener("change", () => replace(topics));
  let begun = "";
  const suggest = (runs) => { if (name.value === begun) name.value = freeName(begun, runs); };
  const start = async () => {
    const { runs } = await get("/api/lab");
    if (isFinished(name.value, runs) && !confirm(`There is an experiment '${name.value}' already. Put a new one in its place? There is no way back.`)) return;
    await post(path`/api/lab/runs/${name.value}`, {
      corpus: corpus.value, strategies: boxes.map((box) => box.firstChild).filter((box) => box.checked).map((box) => box.value),
      topics: [...topics.selectedOptions].map((option) => option.value), max_requests: Number(requests.value), seed_sets: Number(sets.value),
    });
    begun = name.value;
    notice("The experiment has begun.");
    await started();
  };
  const element = h("form.card.stack", { onsubmit: (event) => { event.preventDefault(); patiently(start); } },
    h("h2", "New experiment"),
    field("Recorded web", corpus, `More are found in ${found.folder}; make them with 'trailhound corpus import'.`),
    h("div.row", look, h("span.hint", "None chosen: all of them.")), field("Topics", topics),
    h("fieldset", h("legend", "Strategies"), boxes),
    h("div.grid", field("Requests a crawl", requests), field("Sets of start pages", sets), field("Name of the experiment", name)), button, busy);
  return { element, suggest };
}

function runList(runs, jobs, report) {
  const active = jobs.filter((job) => job.state === "running");
  const failed = jobs.filter((job) => job.state === "failed").slice(0, 1);
  return [
    h("h2", "Experiments"),
    active.map((job) => h("div.stack", h("p", `${job.topic}: ${job.message}`),
      h("progress", { max: "1", value: job.share ?? undefined, "aria-label": `Progress of ${job.topic}` }),
      h("button", { onclick: (event) => attempt(event.target, () => post(path`/api/jobs/${job.id}/stop`)) }, "Stop"))),
    failed.map((job) => h("p.trouble", `${job.topic}: ${job.message}`)),
    runs.length ? runs.map((run) => runCard(run, report)) : h("p.quiet", "None yet."),
  ];
}

function runCard(run, report) {
  if (!run.finished) return h("p.quiet", `${run.name}: ${counted(run.runs_done, "crawl")} done, not finished. Run it again to go on.`);
  const best = Math.max(...run.measured.map((each) => each.nauc));
  const rows = [...run.measured].sort((a, b) => b.nauc - a.nauc).map((each) =>
    [each.nauc === best ? h("strong", each.strategy) : each.strategy, each.nauc.toFixed(3), each.recall.toFixed(3)]);
  const open = async () => {
    const { address } = await post(path`/api/lab/runs/${run.name}/report`);
    replace(report, h("iframe.report", { src: address, sandbox: "", title: `Report of ${run.name}` }));
    report.scrollIntoView();
  };
  return h("article.stack", h("h3", run.name), h("p.quiet", counted(run.runs_done, "crawl")),
    table(`Results of ${run.name}`, ["Strategy", { title: "nAUC", number: true }, { title: "Recall", number: true }], rows),
    h("button", { onclick: (event) => attempt(event.target, open) }, "Report"));
}
