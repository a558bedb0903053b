// Charts as SVG: a screen reader is told in words what they show.

import { s } from "./dom.js";

const WIDEST = 640, NARROWEST = 280, HEIGHT = 240, LEFT = 48, RIGHT = 12, TOP = 18, BOTTOM = 36;

/** A chart of lines. series: [{points: [[x, y], …], second: true for a dashed one}]; width: of its place, in pixels. */
export function lineChart({ series, xTitle, yTitle, description, width }) {
  const WIDTH = Math.min(WIDEST, Math.max(NARROWEST, width || WIDEST));
  const all = series.flatMap((each) => each.points);
  const xMost = Math.max(1, ...all.map((point) => point[0]));
  const isWhole = (at) => all.every((point) => Number.isInteger(point[at]));
  const xTicks = ticks(xMost, { whole: isWhole(0) });
  const yTicks = ticks(Math.max(0, ...all.map((point) => point[1])) || 1, { whole: isWhole(1), reaching: true });
  const yMost = yTicks.at(-1);
  const x = (value) => LEFT + (value / xMost) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (value / yMost) * (HEIGHT - TOP - BOTTOM);
  return s("svg.chart", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": description },
    yTicks.map((value) => [
      s("line.axis", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      s("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value, yTicks[1])),
    ]),
    xTicks.map((value) => s("text", { x: x(value), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, short(value, xTicks[1]))),
    s("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, xTitle),
    s("text", { x: LEFT, y: TOP - 6 }, yTitle),
    series.map((each) => s("polyline.line", {
      class: each.second ? "second" : "",
      points: each.points.map((point) => `${x(point[0]).toFixed(1)},${y(point[1]).toFixed(1)}`).join(" "),
    })));
}

/** Round numbers from 0 to the most, or to the first that reaches it; of what is counted there are no halves. */
function ticks(most, { whole, reaching = false }) {
  const unit = 10 ** Math.floor(Math.log10(most / 4));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((each) => each >= Math.max(0.999 * most / 4, whole ? 1 : 0));
  const count = reaching ? Math.ceil(most / step - 1e-9) : Math.floor(most / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, at) => at * step);
}

/** As short as it can be without two neighbours looking alike. */
function short(value, step) {
  const thousands = value >= 10_000;
  const decimals = Math.max(0, -Math.floor(Math.log10(thousands ? step / 1000 : step) + 1e-9));
  const digits = { minimumFractionDigits: value ? decimals : 0, maximumFractionDigits: decimals };
  return `${(thousands ? value / 1000 : value).toLocaleString("en", digits)}${thousands ? "k" : ""}`;
}
