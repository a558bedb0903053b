// What was browsed: the pages and the links between them, drawn and as a table; marks can be changed.

import { get, path, post, put, query } from "../lib/api.js";
import { counted, field, h, number, outside, replace, s, table, when } from "../lib/dom.js";
import { graph, hopClass } from "../lib/graph.js";
import { jobWatch } from "../lib/jobs.js";
import { attempt, oneAtATime, topicHead, topicLink, whenever } from "../lib/shell.js";

const ROWS = 20;
const MARKS = [[true, "Useful"], [false, "Not useful"], [null, "No mark"]];

export async function session(place, [name]) {
  const jobs = jobWatch(name, () => { state.chosen = null; draw().catch(() => {}); });
  const state = { name, jobs, picture: null, sessions: [], drawn: null, chosen: null, rows: ROWS, sought: "" };
  state.preview = h("aside.card.preview", { "aria-live": "polite", "aria-label": "The chosen page" });
  state.stale = h("div");
  state.list = h("div");
  
  const draw = oneAtATime(async () => {
    const [picture, sessions, learning] = await Promise.all([
      get(path`/api/topics/${name}/session`), get(path`/api/topics/${name}/sessions`), get(path`/api/topics/${name}/learning`), jobs.look()]);
    const same = state.picture && samePages(state.picture, picture);
    Object.assign(state, { sessions, picture: same ? state.picture : picture });
    replace(state.stale, staleNote(state, learning));
    if (same) {
      state.drawn.recolour(picture.nodes);
      listPages(state);
    } else show(place, state);
  });

  state.refresh = draw;
  await draw();
  const silence = whenever(["session", "topic"], (heard) => { if (!heard.topic || heard.topic === name) draw().catch(() => {}); });
  return () => { silence(); jobs.end(); };
}

function samePages(one, other) {
  return one.nodes.length === other.nodes.length && one.nodes.every((node, at) => node.url === other.nodes[at].url && node.x === other.nodes[at].x);
}

function show(place, state) {
  const { name, picture } = state;
  if (!picture.nodes.length) {
    replace(place, topicHead(name, "session"), state.jobs.element, h("section.card", h("h2", "Nothing was browsed yet"),
      h("p", "Pages appear here as soon as a paired browser sends them."), h("a.button.primary", { href: topicLink(name) }, "How to begin")));
    return;
  }
  const marked = picture.nodes.filter((node) => node.mark === true).length;
  state.drawn = graph(picture, (at) => choose(state, at),
    `${counted(picture.nodes.length, "page")} and the links between them. Arrow keys move the picture, plus and minus zoom, zero shows all. The same pages are in the table below.`);
  state.chosen = null;
  replace(state.preview, h("p.quiet", "Choose a page in the picture or in the table: it is shown here, and you can mark it."));
  replace(place, topicHead(name, "session"), state.jobs.element, state.stale,
    h("p", `${counted(picture.nodes.length, "page")} with ${counted(picture.links_in_all, "link")} between them, ${number(marked)} marked useful.`,
      picture.links.length < picture.links_in_all ? ` Drawn are ${number(picture.links.length)} links: those that were followed, and the next step from each page to a useful one. Choose a page to see all of its links.` : ""),
    h("div.row.legend-row", legend(), pathChoice(state)),
    h("div.beside", state.drawn.element, state.preview),
    h("section.card", h("h2", "All pages"), seeker(state), state.list));
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
  const select = h("select", { "aria-label": "Way of a session", onchange: () => state.drawn.showPath(select.value === "" ? [] : paths[Number(select.value)].steps) },
    h("option", { value: "" }, "No way shown"), paths.map((each, at) => h("option", { value: String(at) }, `Way of ${title(each.session)}`)));
  return h("div.path-choice", select);
}

async function choose(state, at) {
  state.chosen = at;
  await attempt(null, async () => showPage(state, at, await get(query(path`/api/topics/${state.name}/page`, { url: state.picture.nodes[at].url }))));
}

function showPage(state, at, page) {
  if (state.chosen !== at) return;
  const numbers = new Map(state.picture.nodes.map((node, each) => [node.url, each]));
  const known = (urls) => urls.map((url) => numbers.get(url)).filter((each) => each !== undefined);
  const links = { to: known(page.links_to), from: known(page.linked_from) };
  state.drawn.select(at, links);
  replace(state.preview, h("h2", page.title || "Without a title"), h("p.url", outside(page.url)),
    h("p", h("span.badge", hopWords(page)), " ", h("span.badge", `seen ${counted(page.visits, "time")}`), page.language ? [" ", h("span.badge", page.language)] : null),
    markButtons(state, at, page),
    h("p.excerpt", page.text || "Its content was not recorded."),
    h("p.quiet.small", `Links to ${counted(links.to.length, "visited page")}; ${counted(links.from.length, "visited page")} ${links.from.length === 1 ? "links" : "link"} here.`),
    forgetButton(state, page));
}

function hopWords(page) {
  if (page.mark === true) return "useful";
  return page.hops === null ? "no useful page behind it" : `${counted(page.hops, "hop")} to a useful page`;
}

function markButtons(state, at, page) {
  const buttons = MARKS.map(([useful, title]) => h("button", { "aria-pressed": String(page.mark === useful), onclick: (event) => attempt(event.target, async () => {
    const fresh = await put(path`/api/topics/${state.name}/mark`, { url: page.url, useful });
    await state.refresh();
    showPage(state, at, fresh);
  }) }, title));
  return h("div.row.marks", { role: "group", "aria-label": "Your mark" }, buttons);
}

function forgetButton(state, page) {
  const button = h("button.danger", { onclick: () => {
    if (!confirm(`Forget ${page.url}? It leaves all sessions, the model, crawls and archives of this topic. There is no way back.`)) return;
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
  const input = h("input", { type: "search", oninput: () => { state.sought = input.value.toLowerCase(); state.rows = ROWS; listPages(state); } });
  return field("Find a page", input, "By words of its title or address.");
}

function listPages(state) {
  const { nodes } = state.picture;
  const found = nodes.map((node, at) => at).filter((at) => `${nodes[at].title} ${nodes[at].url}`.toLowerCase().includes(state.sought));
  const far = (at) => nodes[at].hops ?? Infinity;
  found.sort((one, other) => far(one) - far(other) || one - other);
  const rows = found.slice(0, state.rows).map((at) => [
    [dot(nodes[at]), h("button.link", { onclick: () => { choose(state, at); state.preview.scrollIntoView({ block: "nearest" }); } }, nodes[at].title), h("div.url", nodes[at].url)],
    nodes[at].mark === true ? "useful" : nodes[at].mark === false ? "not useful" : "–",
    nodes[at].hops ?? "dead end", number(nodes[at].visits ?? 0)]);
  const more = found.length > state.rows ? h("button", { onclick: () => { state.rows += 200; listPages(state); } }, `Show more of ${number(found.length)}`) : null;
  replace(state.list, table("Visited pages", ["Page", "Mark", { title: "Hops", number: true }, { title: "Visits", number: true }], rows), more);
}

function dot(node) {
  return s("svg.dot", { viewBox: "0 0 20 20", width: "14", height: "14", "aria-hidden": "true" }, s("circle.node", { cx: "10", cy: "10", r: "7", class: `${hopClass(node)}${node.mark === true ? " target" : ""}` }));
}
