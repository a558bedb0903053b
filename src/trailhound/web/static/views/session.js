// What was browsed: the pages and the links between them, drawn and as a table; marks can be changed.

import { get, path, post, put, query } from "../lib/api.js";
import { changes, counted, field, h, number, outside, replace, s, table, when } from "../lib/dom.js";
import { graph, hopClass } from "../lib/graph.js";
import { jobWatch } from "../lib/jobs.js";
import { attempt, oneAtATime, topicHead, topicLink, whenever } from "../lib/shell.js";

const ROWS = 20;
const MARKS = [[true, "Useful"], [false, "Not useful"], [null, "No mark"]];

export async function session(place, [name]) {
  const jobs = jobWatch(name, () => draw().catch(() => {}));
  const state = { name, jobs, picture: null, sessions: [], drawn: null, chosen: null, rows: ROWS, sought: "", way: "", differs: changes() };
  state.preview = h("aside.card.preview", { "aria-live": "polite", "aria-label": "The chosen page" });
  for (const part of ["stale", "lead", "ways", "drawing", "list"]) state[part] = h("div");

  const draw = oneAtATime(async () => {
    const [picture, sessions, learning] = await Promise.all([
      get(path`/api/topics/${name}/session`), get(path`/api/topics/${name}/sessions`), get(path`/api/topics/${name}/learning`), jobs.look()]);
    const before = state.picture;
    const same = before?.nodes.length && samePages(before, picture);
    Object.assign(state, { sessions, picture: same ? before : picture });
    replace(state.stale, staleNote(state, learning));
    if (same) state.drawn.recolour(picture.nodes);
    else show(place, state, before);
    tell(state);
  });

  state.refresh = draw;
  await draw();
  const silence = whenever(["session", "topic"], (heard) => { if (!heard.topic || heard.topic === name) draw().catch(() => {}); });
  return () => { silence(); jobs.end(); };
}

function samePages(one, other) {
  return one.nodes.length === other.nodes.length && one.nodes.every((node, at) => node.url === other.nodes[at].url && node.x === other.nodes[at].x);
}

/** Draws the pages that there are now. What is sought, typed and chosen stays as it is. */
function show(place, state, before) {
  const { name, picture } = state;
  if (!picture.nodes.length) {
    chooseNone(state);
    replace(place, topicHead(name, "session"), state.jobs.element, h("section.card", h("h2", "Nothing was browsed yet"),
      h("p", "Pages appear here as soon as a paired browser sends them."), h("a.button.primary", { href: topicLink(name) }, "How to begin")));
    return;
  }
  state.drawn = graph(picture, (at) => choose(state, at),
    `${counted(picture.nodes.length, "page")} and the links between them. Arrow keys move the picture, plus and minus zoom, zero shows all. The same pages are in the table below.`);
  replace(state.drawing, state.drawn.element);
  replace(state.ways, pathChoice(state));
  if (!before?.nodes.length) {
    replace(place, topicHead(name, "session"), state.jobs.element, state.stale, state.lead,
      h("div.row.legend-row", legend(), state.ways),
      h("div.beside", state.drawing, state.preview),
      h("section.card", h("h2", "All pages"), seeker(state), state.list));
  }
  chooseAgain(state, before);
}

/** The page that was chosen before the picture was drawn anew, if it is still there. */
function chooseAgain(state, before) {
  const url = before?.nodes[state.chosen]?.url;
  const at = url === undefined ? -1 : state.picture.nodes.findIndex((node) => node.url === url);
  if (at >= 0) choose(state, at);
  else chooseNone(state);
}

function chooseNone(state) {
  state.chosen = null;
  if (state.differs(null)) replace(state.preview, h("p.quiet", "Choose a page in the picture or in the table: it is shown here, and you can mark it."));
}

/** What changes with every mark: the numbers and the table. */
function tell(state) {
  const { nodes, links, links_in_all: all } = state.picture;
  const marked = nodes.filter((node) => node.mark === true).length;
  replace(state.lead, h("p", `${counted(nodes.length, "page")} with ${counted(all, "link")} between them, ${number(marked)} marked useful.`,
    links.length < all ? ` Drawn are ${number(links.length)} links: those that were followed, and the next step from each page to a useful one. Choose a page to see all of its links.` : ""));
  listPages(state);
}

function legend() {
  const dot = (kind, text) => h("li", s("svg", { viewBox: "0 0 20 20", width: "18", height: "18", "aria-hidden": "true" }, s("circle.node", { cx: "10", cy: "10", r: "7", class: kind })), text);
  return h("ul.legend", { "aria-label": "Colours" }, dot("hop-0 target", "useful"), dot("hop-1", "1 hop away"), dot("hop-2", "2 hops"), dot("hop-3", "3 hops"), dot("hop-4", "4 or more"), dot("hop-none dead", "dead end"), dot("hop-none dead rejected", "marked not useful"));
}

function pathChoice(state) {
  const { paths } = state.picture;
  if (!paths.length) return null;
  const title = (name) => { const found = state.sessions.find((each) => each.name === name); return found ? `${when(found.started_at)}, ${found.recorder || "session"}` : name; };
  const follow = () => { state.way = select.value; state.drawn.showPath(paths.find((each) => each.session === state.way)?.steps ?? []); };
  const select = h("select", { "aria-label": "Way of a session", onchange: follow },
    h("option", { value: "" }, "No way shown"), paths.map((each) => h("option", { value: each.session, selected: each.session === state.way }, `Way of ${title(each.session)}`)));
  follow();
  return h("div.path-choice", select);
}

async function choose(state, at) {
  state.chosen = at;
  await attempt(null, async () => showPage(state, await get(query(path`/api/topics/${state.name}/page`, { url: state.picture.nodes[at].url }))));
}

function showPage(state, page) {
  if (state.picture.nodes[state.chosen]?.url !== page.url) return;
  const numbers = new Map(state.picture.nodes.map((node, each) => [node.url, each]));
  const known = (urls) => urls.map((url) => numbers.get(url)).filter((each) => each !== undefined);
  const links = { to: known(page.links_to), from: known(page.linked_from) };
  state.drawn.select(state.chosen, links);
  if (!state.differs(page)) return;
  replace(state.preview, h("h2", { dir: "auto" }, page.title || "Without a title"), h("p.url", outside(page.url)),
    h("p", h("span.badge", hopWords(page)), " ", h("span.badge", `seen ${counted(page.visits, "time")}`), page.language ? [" ", h("span.badge", page.language)] : null),
    markButtons(state, page),
    h("p.excerpt", { dir: "auto" }, page.text || "Its content was not recorded."),
    h("p.quiet.small", `Links to ${counted(links.to.length, "visited page")}; ${counted(links.from.length, "visited page")} ${links.from.length === 1 ? "links" : "link"} here.`),
    forgetButton(state, page));
}

function hopWords(page) {
  if (page.mark === true) return "useful";
  return page.hops === null ? "no useful page behind it" : `${counted(page.hops, "hop")} to a useful page`;
}

function markButtons(state, page) {
  const buttons = MARKS.map(([useful, title]) => h("button", { "aria-pressed": String(page.mark === useful), onclick: (event) => attempt(event.target, async () => {
    const fresh = await put(path`/api/topics/${state.name}/mark`, { url: page.url, useful });
    await state.refresh();
    showPage(state, fresh);
  }) }, title));
  return h("div.row.marks", { role: "group", "aria-label": "Your mark" }, buttons);
}

function forgetButton(state, page) {
  const button = h("button.danger", { onclick: () => {
    if (!confirm(`Forget ${page.url}? It leaves all sessions, the model, crawls and archives of this topic; links to it on other pages stay. There is no way back.`)) return;
    attempt(button, async () => state.jobs.watch(await post(path`/api/topics/${state.name}/forget`, { url: page.url })));
  } }, "Forget this page");
  return button;
}

function staleNote(state, learning) {
  if (!learning.learned || !learning.stale) return null;
  const button = h("button.primary", { onclick: () => attempt(button, async () => state.jobs.watch(await post(path`/api/topics/${state.name}/learn`))) }, "Learn again");
  return h("div.card.row.apart", h("p.flush", "Sessions or marks have changed since the last learning."), button);
}

function seeker(state) {
  const input = h("input", { type: "search", value: state.sought, oninput: () => { state.sought = input.value; state.rows = ROWS; listPages(state); } });
  return field("Find a page", input, "By words of its title or address.");
}

function listPages(state) {
  const { nodes } = state.picture;
  const sought = state.sought.trim().toLowerCase();
  const found = nodes.map((node, at) => at).filter((at) => `${nodes[at].title} ${nodes[at].url}`.toLowerCase().includes(sought));
  const far = (at) => nodes[at].hops ?? Infinity;
  found.sort((one, other) => far(one) - far(other) || one - other);
  const rows = found.slice(0, state.rows).map((at) => [
    [h("div.titled", dot(nodes[at]), h("button.link", { dir: "auto", onclick: () => { choose(state, at); state.preview.scrollIntoView({ block: "nearest" }); } }, nodes[at].title)), h("div.url", nodes[at].url)],
    nodes[at].mark === true ? "useful" : nodes[at].mark === false ? "not useful" : "–",
    nodes[at].hops ?? "dead end", number(nodes[at].visits ?? 0)]);
  if (!found.length) { replace(state.list, h("p.quiet", { role: "status" }, "No page has this in its title or address.")); return; }
  const more = found.length > state.rows ? h("button", { onclick: () => { state.rows += 200; listPages(state); } }, `Show more of ${number(found.length)}`) : null;
  replace(state.list, table("Visited pages", ["Page", "Mark", { title: "Hops", number: true }, { title: "Visits", number: true }], rows), more);
}

function dot(node) {
  return s("svg.dot", { viewBox: "0 0 20 20", width: "14", height: "14", "aria-hidden": "true" }, s("circle.node", { cx: "10", cy: "10", r: "7", class: `${hopClass(node)}${node.mark === true ? " target" : ""}` }));
}
