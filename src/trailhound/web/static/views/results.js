// What was found: a list to search, filter and mark; below it, what just missed.

import { get, path, query } from "../lib/api.js";
import { atEase } from "../lib/crawls.js";
import { counted, day, field, h, number, replace } from "../lib/dom.js";
import { attempt, topicHead, topicLink, whenever } from "../lib/shell.js";
import { nearMisses } from "./near_misses.js";
import { resultCard } from "./result_card.js";
import { resultTools } from "./result_tools.js";

const KINDS = [["all", "All finds"], ["new", "New to me"], ["changed", "Changed"], ["useful", "Marked useful"], ["rejected", "Marked not useful"]];
/** The name of the crawl that is shown when none is named. */
const PRESENT = "crawl";
const TYPING_MILLISECONDS = 300;
const MARKS_MILLISECONDS = 500;
const DAY_SECONDS = 86_400;

export async function results(place, [topic], again) {
  const base = path`/api/topics/${topic}/results`;
  const filters = filtersFromAddress();
  const state = { topic, base, filters, crawl: filters.crawl, ownMarks: 0, marksKept: Promise.resolve(), judgedAgain() {} };
  const list = h("div.stack", { "aria-live": "off" });
  const told = h("p.quiet", { role: "status" });
  const more = h("div");
  const fresh = h("div");
  const listed = { count: null, fresh: 0, unsearched: 0 };
  const here = addressNow();
  let asked = 0, isMissing = false;

  async function load(after = "") {
    const mine = ++asked;
    await state.marksKept;
    const found = await get(query(base, { ...wanted(state.filters), after }));
    if (mine !== asked) return;
    isMissing = false;
    const cards = found.results.map((result) => resultCard(result, state));
    if (after) list.append(...cards);
    else replace(list, cards.length ? cards : nothing(state.filters));
    if (after && cards.length) cards[0].querySelector("a")?.focus();
    replace(more, found.after ? h("button", { onclick: (event) => attempt(event.currentTarget, () => load(found.after)) }, "Show more") : null);
    if (!after) tell(found, mine).catch(() => {});
  }

  const countNow = async () => (await get(query(`${base}/count`, wanted(state.filters)))).count;

  async function tell(found, mine) {
    const count = await countNow();
    if (mine !== asked) return;
    Object.assign(listed, { count, fresh: 0, unsearched: found.unsearched });
    say();
  }

  function say() {
    const waiting = listed.unsearched ? ` ${counted(listed.unsearched, "page")} more are being made searchable.` : "";
    told.textContent = `${counted(listed.count, "page")}${state.filters.q ? ", those first that fit best" : ", best first"}.${waiting}`;
    replace(fresh, listed.fresh > 0 ? h("button", { onclick: (event) => attempt(event.currentTarget, () => load()) }, `${counted(listed.fresh, "new find")} – show`) : null);
  }

  /** What marks have moved is moved in the list already. */
  async function countMarks() {
    const mine = asked, count = await countNow();
    if (mine !== asked || listed.count === null) return;
    listed.count = count - listed.fresh;
    say();
  }

  /** What a crawl has found meanwhile is not in the list; it is told from marks by counting while there are none on their way. */
  async function countFresh() {
    const mine = asked, count = state.ownMarks ? null : await countNow();
    if (mine !== asked || listed.count === null) return;
    if (state.ownMarks) { clearTimeout(later); later = setTimeout(lookForFinds, MARKS_MILLISECONDS); return; }
    listed.fresh = count - listed.count;
    say();
  }

  /** What is listed then is of an earlier search: nothing is counted until there is a list of this one. */
  const refresh = () => {
    const loading = load(), mine = asked;
    return loading.catch((error) => {
      if (mine !== asked) return;
      isMissing = true;
      listed.count = null;
      told.textContent = error.message;
    });
  };
  let isOld = false;
  /** What is typed or chosen here while another crawl is on its way is meant for that one. */
  const changed = () => {
    if (addressNow() !== here) return;  // typed just before another view was asked for
    filtersToAddress(filters);
    isOld ||= filters.crawl !== state.crawl;
    if (isOld) again();
    else refresh();
  };
  let later = 0;
  const lookForFinds = atEase(countFresh);
  state.marked = () => { state.lookAtJobs(); form.count(); return countMarks().catch(() => {}); };
  state.join = (result) => list.prepend(resultCard(result, state));

  const refused = await load().catch((error) => error);
  if (refused && (refused.status !== 404 || state.crawl)) throw refused;
  const crawls = await crawlField(state, changed);  // refused when there is no such topic at all
  if (refused) {
    replace(place, topicHead(topic, "results"), crawls && h("div.card", crawls), h("div.card", h("p", "There are no results yet: this topic has not been crawled."),
      h("p", h("a.button.primary", { href: topicLink(topic, "crawl") }, "Crawl"))));
    return undefined;
  }
  const form = filterForm(state, crawls, changed);
  const tools = resultTools(state);
  const misses = nearMisses(state);
  replace(place, topicHead(topic, "results"), tools.element,
    form.element,
    h("section.card", { "aria-labelledby": "finds-title" },
      h("div.row.apart", h("div", h("h2", { id: "finds-title" }, "Finds"), told), tools.menus), fresh, list, more),
    misses.element);
  misses.load();
  const anew = () => { refresh(); misses.load(); form.count(); };
  state.judgedAgain = anew;  // whoever has just marked something does not hear of other changes
  const quiet = whenever(["results", "crawl"], (happening) => {
    const { kind } = happening, isMine = happening.topic === topic;
    // Who comes back to the page finds the list as it was left: it is long, and links lead out of it.
    if (kind === "awake" ? happening.wasAway || isMissing : kind === "results" && isMine && !state.ownMarks) anew();
    else if (!state.crawl && (kind === "awake" || (kind === "crawl" && isMine))) lookForFinds();
  });
  return () => { quiet(); clearTimeout(later); tools.end(); };
}

/** Which view is shown, whatever its filters. */
const addressNow = () => location.hash.split("?")[0];

/** Whether a search only says what pages are not to hold: it is read as the server reads it. */
function onlyLeavesOut(words) {
  const pieces = (words.match(/-?(?:"[^"]*"|\S+)/g) ?? []).filter((piece) => /[\p{L}\p{N}]/u.test(piece));
  return pieces.length > 0 && pieces.every((piece) => piece.startsWith("-"));
}

function nothing({ crawl, ...filters }) {
  if (onlyLeavesOut(filters.q)) return h("p", "A minus leaves pages out of those that are found. Write a word to look for beside it: hive -wasp.");
  const isFiltered = Object.entries(filters).some(([name, value]) => value && !(name === "kind" && value === "all"));
  return h("p", isFiltered ? "Nothing fits these filters." : "Nothing is relevant so far. Look at the near misses below, or mark what is useful and learn again.");
}

/** What the server is asked for; days end at midnight here, and their last day counts. */
function wanted(filters) {
  const { from, to, ...rest } = filters;
  return { ...rest, since: from ? midnight(from) : "", until: to ? midnight(to) + DAY_SECONDS : "" };
}

function midnight(day) {
  return new Date(`${day}T00:00:00`).getTime() / 1000;
}

function filtersFromAddress() {
  const given = new URLSearchParams(location.hash.split("?")[1] ?? "");
  const filters = { crawl: "", kind: "all", q: "", host: "", language: "", from: "", to: "", min_score: "" };
  for (const name of Object.keys(filters)) if (makesSense(name, given.get(name))) filters[name] = given.get(name);
  return filters;
}

/** Addresses may be anybody's: a filter that the server would refuse is passed over. */
function makesSense(name, value) {
  if (!value) return false;
  if (name === "kind") return KINDS.some(([kind]) => kind === value);
  if (name === "min_score") return /^\d+(\.\d+)?$/.test(value) && Number(value) <= 1;
  if (name === "from" || name === "to") return /^\d{4}-\d\d-\d\d$/.test(value) && Number.isFinite(midnight(value));
  return true;
}

function filtersToAddress(filters) {
  history.replaceState(null, "", query(addressNow(), { ...filters, kind: filters.kind === "all" ? "" : filters.kind }));
}

/** Which crawl is shown, for topics that were crawled anew: all else in the view depends on it. */
async function crawlField({ topic, filters }, changed) {
  const earlier = (await get(path`/api/topics/${topic}/crawls`)).filter(({ name }) => name !== PRESENT);
  if (!earlier.length) return null;
  const choose = (event) => {
    Object.assign(filters, { crawl: event.target.value, host: "", language: "" });  // which it may not have
    changed();
  };
  const option = (value, title) => h("option", { value, selected: filters.crawl === value }, title);
  return field("Crawl", h("select", { onchange: choose }, option("", "The present one"), earlier.map((each) => option(each.name, inWords(each)))),
    filters.crawl ? "An earlier crawl, as it was left. Marks count in the present one as well." : "");
}

function inWords({ name, begun_at, finds }) {
  const known = [begun_at === null ? "" : day(begun_at), finds === null ? "" : counted(finds, "find")];
  return `${name}: ${known.filter(Boolean).join(", ") || "damaged"}`;
}

/** {element, count}: count() counts the pages of sites and languages anew. */
function filterForm({ base, filters }, crawls, changed) {
  let timer = 0;
  const set = (name) => (event) => { filters[name] = event.target.value; changed(); };
  const typed = (event) => { clearTimeout(timer); timer = setTimeout(() => { filters.q = event.target.value; changed(); }, TYPING_MILLISECONDS); };
  const search = h("input", { type: "search", value: filters.q, maxlength: "300", oninput: typed, placeholder: "Words, \"words in a row\", begin*, -without" });
  const choices = (name, options) => options.map(([value, title]) => h("option", { value, selected: filters[name] === value }, title));
  const choice = (name, options) => h("select", { onchange: set(name) }, choices(name, options));
  const withCount = ({ value, name, count }) => [value, `${name} (${number(count)})`];
  /** What is chosen is offered also when no find has it: else it would be a filter that nobody sees. */
  const options = (name, all, some) => {
    const offered = [["", all], ...some], chosen = filters[name];
    return offered.some(([value]) => value === chosen) ? offered : [...offered, [chosen, chosen]];
  };
  const scores = options("min_score", "Any", ["0.5", "0.6", "0.7", "0.8", "0.9"].map((score) => [score, `${score} and better`]));
  const hosts = choice("host", options("host", "All sites", []));
  const languages = choice("language", options("language", "All languages", []));
  // Counting takes longer than listing.
  const count = atEase(async () => {
    const facets = await get(query(`${base}/facets`, { crawl: filters.crawl }));
    replace(hosts, choices("host", options("host", "All sites", facets.hosts.map(withCount))));
    replace(languages, choices("language", options("language", "All languages", facets.languages.map(withCount))));
  });
  count();
  const open = Boolean(filters.host || filters.language || filters.from || filters.to || filters.min_score);
  const element = h("form.card.stack", { role: "search", onsubmit: (event) => event.preventDefault() },
    crawls,
    h("div.filters", field("Search these pages", search), field("Show", choice("kind", KINDS))),
    h("details", { open }, h("summary", "Filters"),
      h("div.filters",
        field("Site", hosts),
        field("Language", languages),
        field("Score", choice("min_score", scores)),
        field("Fetched from", h("input", { type: "date", value: filters.from, onchange: set("from") })),
        field("until", h("input", { type: "date", value: filters.to, onchange: set("to") })))));
  return { element, count };
}
