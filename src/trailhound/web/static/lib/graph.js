// A graph of pages to look around in: drag or arrow keys move it, wheel, buttons or + and - zoom.
// All links are one path each for their kind, so that thousands of pages stay quick.

import { h, s } from "./dom.js";

const ZOOM = 1.3, MOST_ZOOM = 40, MANY = 400;
/** A click so many points beside a page is still meant for it. */
const NEAR = 14;

/** What a page is coloured by: hops to the next useful page, four or more alike; dead ends pale. */
export function hopClass(node) {
  const hops = node.hops ?? null;
  return hops === null ? "hop-none dead" : `hop-${Math.min(hops, 4)}`;
}

function nodeClass(node) {
  const mark = node.mark ?? null;
  return `node ${hopClass(node)}${mark === true ? " target" : ""}${mark === false ? " rejected" : ""}`;
}

function line(nodes, pairs) {
  return pairs.map(([from, to]) => `M${nodes[from].x} ${nodes[from].y}L${nodes[to].x} ${nodes[to].y}`).join("");
}

/** {element, select, recolour, showPath}; chosen(number) is called when a page is clicked. */
export function graph(picture, chosen, words) {
  const { nodes, width, height } = picture;
  const radius = Math.max(5, Math.min(17, Math.sqrt((width * height) / Math.max(nodes.length, 1)) / 9));
  const view = { x: 0, y: 0, w: width, h: height };
  const circles = nodes.map((node) => s("circle", { cx: node.x, cy: node.y, r: node.mark === true ? radius * 1.15 : radius, class: nodeClass(node) }, s("title", node.title)));
  const [trail, onward, backward] = ["path.trail", "path.onward", "path.backward"].map((kind) => s(kind));
  const label = s("text.chosen-label", { "text-anchor": "middle" });
  const drawing = s("svg", { "aria-hidden": "true", focusable: "false", preserveAspectRatio: "xMidYMid meet" },
    s("path.edge", { d: line(nodes, picture.links) }), s("path.edge.followed", { d: line(nodes, picture.followed) }), trail, backward, onward, circles, label);
  const place = h("div.graph", { class: nodes.length > MANY ? "many" : "", tabindex: "0", role: "application", "aria-label": words }, drawing);

  function show() {
    drawing.setAttribute("viewBox", `${view.x.toFixed(1)} ${view.y.toFixed(1)} ${view.w.toFixed(1)} ${view.h.toFixed(1)}`);
    label.style.setProperty("font-size", `${(15 * view.w / Math.max(drawing.clientWidth, 300)).toFixed(1)}px`);
  }
  function move(dx, dy) {
    view.x = Math.max(-view.w / 2, Math.min(width - view.w / 2, view.x + dx));
    view.y = Math.max(-view.h / 2, Math.min(height - view.h / 2, view.y + dy));
    show();
  }
  function zoom(times, cx = view.x + view.w / 2, cy = view.y + view.h / 2) {
    const w = Math.max(width / MOST_ZOOM, Math.min(width * 1.2, view.w / times)), change = w / view.w;
    Object.assign(view, { x: cx - (cx - view.x) * change, y: cy - (cy - view.y) * change, w, h: view.h * change });
    show();
  }
  function fit() { Object.assign(view, { x: 0, y: 0, w: width, h: height }); show(); }
  function at(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    return [point.x, point.y];
  }
  function nearest([x, y]) {
    const far = nodes.map((node) => Math.hypot(node.x - x, node.y - y)), least = Math.min(...far);
    return least <= Math.max(radius, NEAR / drawing.getScreenCTM().a) ? far.indexOf(least) : null;
  }

  let held = null;
  drawing.addEventListener("pointerdown", (event) => { if (event.button === 0) held = { x: event.clientX, y: event.clientY, moved: false }; });
  drawing.addEventListener("pointermove", (event) => {
    if (!held || !(event.buttons & 1)) return;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.moved && Math.hypot(dx, dy) < 4) return;
    if (!held.moved) drawing.setPointerCapture(event.pointerId);
    const scale = drawing.getScreenCTM().a;
    Object.assign(held, { moved: true, x: event.clientX, y: event.clientY });
    move(-dx / scale, -dy / scale);
  });
  drawing.addEventListener("pointerup", (event) => {
    const meant = held && !held.moved ? nearest(at(event)) : null;
    if (meant !== null) chosen(meant);
    held = null;
  });
  drawing.addEventListener("wheel", (event) => {
    // Otherwise the wheel moves the page, as everywhere.
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== place) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, ...at(event));
  }, { passive: false });
  const step = () => view.w / 10;
  const keys = {
    ArrowLeft: () => move(-step(), 0), ArrowRight: () => move(step(), 0), ArrowUp: () => move(0, -step()), ArrowDown: () => move(0, step()),
    "+": () => zoom(ZOOM), "=": () => zoom(ZOOM), "-": () => zoom(1 / ZOOM), 0: fit,
  };
  place.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  show();

  return {
    element: h("div.graph-frame", place, h("div.row.graph-tools",
      h("button", { onclick: () => zoom(ZOOM), "aria-label": "Zoom in" }, "+"), h("button", { onclick: () => zoom(1 / ZOOM), "aria-label": "Zoom out" }, "−"), h("button", { onclick: fit }, "Fit"))),
    /** Rings a page, names it, and shows all its links; links: {to, from} as lists of numbers. */
    select(number, links = { to: [], from: [] }) {
      circles.forEach((circle, each) => circle.classList.toggle("chosen", each === number));
      const node = nodes[number];
      onward.setAttribute("d", node ? line(nodes, links.to.map((to) => [number, to])) : "");
      backward.setAttribute("d", node ? line(nodes, links.from.map((from) => [from, number])) : "");
      label.textContent = node ? shortened(node.title, drawing.clientWidth < 500 ? 24 : 44) : "";
      if (!node) return;
      label.setAttribute("text-anchor", node.x < width * 0.3 ? "start" : node.x > width * 0.7 ? "end" : "middle");
      label.setAttribute("x", node.x);
      label.setAttribute("y", node.y < height * 0.1 ? node.y + radius * 3.4 : node.y - radius * 1.8);
      show();
    },
    /** After marks have changed: the places are the same. */
    recolour(fresh) {
      fresh.forEach((node, each) => {
        const isChosen = circles[each].classList.contains("chosen");
        Object.assign(nodes[each], { mark: null, hops: null }, node);
        circles[each].setAttribute("class", nodeClass(node) + (isChosen ? " chosen" : ""));
      });
    },
    showPath(steps) {
      trail.setAttribute("d", steps.map((each, number) => `${number ? "L" : "M"}${nodes[each].x} ${nodes[each].y}`).join(""));
    },
  };
}

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most - 2).trimEnd()} …` : text;
}
