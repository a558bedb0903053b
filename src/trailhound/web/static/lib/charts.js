// Charts as SVG: a screen reader is told in words what they show.

import { number, s } from "./dom.js";

const WIDEST = 640, NARROWEST = 280, HEIGHT = 240, LEFT = 48, RIGHT = 12, TOP = 18, BOTTOM = 36;

/** A chart of lines. series: [{points: [[x, y], …], second: true for a dashed one}]; width: of its place, in pixels. */
export function lineChart({ series, xTitle, yTitle, description, yMax, width }) {
  const WIDTH = Math.min(WIDEST, Math.max(NARROWEST, width || WIDEST));
  const all = series.flatMap((each) => each.points);
  const xMost = Math.max(1, ...all.map((point) => point[0]));
  const yMost = yMax ?? niceMost(Math.max(0, ...all.map((point) => point[1])));
  const x = (value) => LEFT + (value / xMost) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (Math.min(value, yMost) / yMost) * (HEIGHT - TOP - BOTTOM);
  return s("svg.chart", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": description },
    [0, 0.25, 0.5, 0.75, 1].map((share) => [
      s("line.axis", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(share * yMost), y2: y(share * yMost) }),
      s("text", { x: LEFT - 6, y: y(share * yMost) + 4, "text-anchor": "end" }, short(share * yMost)),
      s("text", { x: x(share * xMost), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, short(Math.round(share * xMost))),
    ]),
    s("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, xTitle),
    s("text", { x: LEFT, y: TOP - 6 }, yTitle),
    series.map((each) => s("polyline.line", {
      class: each.second ? "second" : "",
      points: each.points.map((point) => `${x(point[0]).toFixed(1)},${y(point[1]).toFixed(1)}`).join(" "),
    })));
}

function niceMost(most) {
  if (most <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 4, 5, 8, 10].map((times) => times * unit).find((value) => value >= most);
}

function short(value) {
  if (value >= 10_000) return `${Math.round(value / 1000)}k`;
  return Number.isInteger(value) ? number(value) : value.toFixed(value < 1 ? 2 : 1);
}
