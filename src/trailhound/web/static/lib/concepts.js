// Clusters of pages as circles, the targets in the middle; and matrices as tables with shades.

import { counted, h, s } from "./dom.js";

const WIDTH = 860, HEIGHT = 560, ACROSS = 265, DOWN = 190, SMALLEST = 20, LARGEST = 46, MIDDLE = 62, WORDS = 3, LONGEST = 15, LINE = 15;
/** Arrows past the middle keep so far away from it, those back a little further. */
const CLEAR = 108, BACK = 16;

/** The concept graph: a circle's area is its number of pages, an arrow's width its number of links. */
export function conceptGraph(figures, names) {
  const { clusters, concept_links: links } = figures;
  const around = Math.max(clusters.length - 1, 1);
  const places = clusters.map((_, at) => {
    const angle = Math.PI / 2 - (2 * Math.PI * (at - 1)) / around;
    return at ? [WIDTH / 2 + ACROSS * Math.cos(angle), HEIGHT / 2 - DOWN * Math.sin(angle)] : [WIDTH / 2, HEIGHT / 2];
  });
  const most = Math.max(1, ...clusters.map((cluster) => cluster.pages));
  const radii = clusters.map((cluster, at) => (at ? SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(cluster.pages / most) : MIDDLE));
  const between = links.flatMap((row, from) => row.map((count, to) => ({ from, to, count }))).filter((each) => each.count && each.from !== each.to);
  const thickest = Math.max(1, ...between.map((each) => each.count));
  return s("svg.chart.concepts", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Concept graph: ${counted(clusters.length, "cluster")} of pages and the links between them` },
    s("defs", s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "11", markerHeight: "11", markerUnits: "userSpaceOnUse", orient: "auto" }, s("path.arrowhead", { d: "M0 0L8 4L0 8z" }))),
    between.sort((one, other) => one.count - other.count).map((each) => arrow(each, places, radii, thickest)),
    clusters.map((cluster, at) => circle(cluster, names[at], places[at], radii[at])));
}

function arrow({ from, to, count }, places, radii, thickest) {
  const [[x1, y1], [x2, y2]] = [places[from], places[to]];
  const length = Math.hypot(x2 - x1, y2 - y1), ux = (x2 - x1) / length, uy = (y2 - y1) / length;
  const [sx, sy, ex, ey] = [x1 + ux * (radii[from] + 3), y1 + uy * (radii[from] + 3), x2 - ux * (radii[to] + 4), y2 - uy * (radii[to] + 4)];
  const [mx, my] = bent([(sx + ex) / 2, (sy + ey) / 2], [-uy, ux], 0.09 * length, from && to ? CLEAR + (from > to ? BACK : 0) : 0);
  const strength = Math.ceil(4 * Math.sqrt(count / thickest));
  return s("path.link", { d: `M${sx.toFixed(1)} ${sy.toFixed(1)}Q${mx.toFixed(1)} ${my.toFixed(1)} ${ex.toFixed(1)} ${ey.toFixed(1)}`, class: `strength-${strength}`, "stroke-width": (0.8 + 5 * (count / thickest)).toFixed(1), "marker-end": "url(#arrow)" },
    s("title", counted(count, "link")));
}

/** Where an arrow is drawn towards: bent a little, so that both directions stay visible, and past the middle in a wide bow. */
function bent([x, y], [across, down], bend, clear) {
  const over = [(x + across * bend / 2) - WIDTH / 2, (y + down * bend / 2) - HEIGHT / 2];
  const far = Math.hypot(...over);
  if (far >= clear) return [x + across * bend, y + down * bend];
  const [ox, oy] = far > 1 ? over.map((each) => each / far) : [across, down];
  return [2 * (WIDTH / 2 + ox * clear) - x, 2 * (HEIGHT / 2 + oy * clear) - y];
}

function circle(cluster, name, [x, y], radius) {
  const words = cluster.log_odds.slice(0, WORDS).map(({ word }) => (word.length > LONGEST ? `${word.slice(0, LONGEST - 1)}…` : word));
  const drawn = s("circle.cluster", { cx: x, cy: y, r: radius.toFixed(1), class: `hop-${Math.min(4, Math.round(cluster.mean_level))}` });
  if (radius === MIDDLE) return s("g", drawn, label(x, y - LINE * words.length / 2 + 4, "middle", [`${cluster.pages} ${name}`, ...words], "inside"));
  const count = s("text.count", { x, y: y + 5, "text-anchor": "middle" }, String(cluster.pages));
  const side = Math.abs(x - WIDTH / 2) > 60 ? Math.sign(x - WIDTH / 2) : 0;
  if (side) return s("g", drawn, count, label(x + side * (radius + 8), y - LINE * words.length / 2 + 4, side > 0 ? "start" : "end", [name, ...words]));
  return s("g", drawn, count, label(x, y < HEIGHT / 2 ? y - radius - 22 : y + radius + 16, "middle", [name, words.join(", ")]));
}

/** Lines of text, the first of them the name. */
function label(x, y, anchor, lines, kind = "") {
  return lines.map((text, at) => s(at ? "text.words" : "text.name", { x, y: (y + at * LINE).toFixed(1), "text-anchor": anchor, class: kind }, text));
}

/** A matrix of probabilities: the stronger the colour, the likelier. */
export function heatMap(caption, corner, rows, rowNames, columnNames) {
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": caption }, h("table.heat",
    h("thead", h("tr", h("th", { scope: "col" }, corner), columnNames.map((name) => h("th.number", { scope: "col" }, name)))),
    h("tbody", rows.map((row, at) => h("tr", h("th", { scope: "row" }, rowNames[at]),
      row.map((value) => h("td.number", { class: `shade-${Math.round(Math.min(1, Math.max(0, value)) * 10)}` }, value.toFixed(2))))))));
}
