// Clusters of pages as circles, the targets in the middle; and matrices as tables with shades.

import { counted, h, s } from "./dom.js";

const WIDTH = 760, HEIGHT = 560, ACROSS = 265, DOWN = 195, SMALLEST = 20, LARGEST = 46, WORDS = 3;

/** The concept graph: a circle's area is its number of pages, an arrow's width its number of links. */
export function conceptGraph(figures, names) {
  const { clusters, concept_links: links } = figures;
  const around = Math.max(clusters.length - 1, 1);
  const places = clusters.map((_, at) => {
    const angle = Math.PI / 2 - (2 * Math.PI * (at - 1)) / around;
    return at ? [WIDTH / 2 + ACROSS * Math.cos(angle), HEIGHT / 2 - DOWN * Math.sin(angle)] : [WIDTH / 2, HEIGHT / 2];
  });
  const most = Math.max(1, ...clusters.map((cluster) => cluster.pages));
  const radii = clusters.map((cluster) => SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(cluster.pages / most));
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
  // Bent a little, so that both directions stay visible.
  const bend = 0.09 * length, mx = (sx + ex) / 2 - uy * bend, my = (sy + ey) / 2 + ux * bend;
  const strength = Math.ceil(4 * Math.sqrt(count / thickest));
  return s("path.link", { d: `M${sx.toFixed(1)} ${sy.toFixed(1)}Q${mx.toFixed(1)} ${my.toFixed(1)} ${ex.toFixed(1)} ${ey.toFixed(1)}`, class: `strength-${strength}`, "stroke-width": (0.8 + 5 * (count / thickest)).toFixed(1), "marker-end": "url(#arrow)" },
    s("title", counted(count, "link")));
}

function circle(cluster, name, [x, y], radius) {
  const words = cluster.log_odds.slice(0, WORDS).map((word) => word.word).join(", ");
  const above = y < HEIGHT / 2 - 10;
  const first = above ? y - radius - 22 : y + radius + 16;
  return s("g", s("circle.cluster", { cx: x, cy: y, r: radius.toFixed(1), class: `hop-${Math.min(4, Math.round(cluster.mean_level))}` }),
    s("text.count", { x, y: y + 5, "text-anchor": "middle" }, String(cluster.pages)),
    s("text.name", { x, y: first, "text-anchor": "middle" }, name), s("text.words", { x, y: first + 15, "text-anchor": "middle" }, words));
}

/** A matrix of probabilities: the stronger the colour, the likelier. */
export function heatMap(caption, corner, rows, rowNames, columnNames) {
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": caption }, h("table.heat",
    h("thead", h("tr", h("th", { scope: "col" }, corner), columnNames.map((name) => h("th.number", { scope: "col" }, name)))),
    h("tbody", rows.map((row, at) => h("tr", h("th", { scope: "row" }, rowNames[at]),
      row.map((value) => h("td.number", { class: `shade-${Math.round(Math.min(1, Math.max(0, value)) * 10)}` }, value.toFixed(2))))))));
}
