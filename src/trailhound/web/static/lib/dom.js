// Elements from words. Text is always set as text: nothing that comes from the web becomes markup.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "disabled", "selected"]);

/** h("p.quiet", {onclick: …}, "text", child, …): an element with attributes and children. */
export function h(kind, attributes, ...children) {
  return build(document.createElement(kind.split(".")[0]), kind, attributes, children);
}

/** The same for drawings. */
export function s(kind, attributes, ...children) {
  return build(document.createElementNS(SVG, kind.split(".")[0]), kind, attributes, children);
}

function build(element, kind, attributes, children) {
  const given = attributes !== null && typeof attributes === "object" && !(attributes instanceof Node) && !Array.isArray(attributes);
  const named = given ? attributes : {};
  const classes = [...kind.split(".").slice(1), ...(named.class ?? "").split(" ")].filter(Boolean);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(named)) {
    if (name === "class" || value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (PROPERTIES.has(name)) element[name] = value;
    else if (name === "href") element.setAttribute("href", safeLink(String(value)));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(given ? children : [attributes, ...children]));
  return element;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Only addresses of the web and of the app become links; "javascript:" and the like lead nowhere. */
export function safeLink(address) {
  return /^(https?:\/\/|#|\/(?!\/)|blob:)/i.test(address) ? address : "#";
}

/** A link to a page of the web, opened beside the app, which that page learns nothing of. */
export function outside(address, ...children) {
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, ...(children.length ? children : [address]));
}

/** Puts children, lists of them included, in the place of what was there. Focus stays on what has the same name,
 *  or at least in the place. */
export function replace(place, ...children) {
  const refocus = keptFocus(place);
  place.replaceChildren(...present(children));
  refocus();
}

/** Gives what brings the focus back, to whatever in the place has the name then of what has it now. */
export function keptFocus(place) {
  const focused = place.contains(document.activeElement) && place !== document.activeElement ? document.activeElement : null;
  if (!focused) return () => {};
  const name = nameOf(focused);  // outside the page, a field has lost its label
  const at = namesakes(place, focused, name).indexOf(focused);
  return () => { if (!place.contains(focused)) focusAgain(place, namesakes(place, focused, name)[at]); };
}

/** What is of the same kind and has the name. */
function namesakes(place, element, name) {
  return [...place.querySelectorAll(element.tagName)].filter((each) => nameOf(each) === name);
}

function nameOf(element) {
  return element.getAttribute("aria-label") ?? (element.labels?.length ? element.labels[0].textContent : element.textContent);
}

function focusAgain(place, element) {
  element?.focus({ preventScroll: true });
  if (place.contains(document.activeElement)) return;
  place.setAttribute("tabindex", "-1");
  place.focus({ preventScroll: true });
}

/** Asked each time before a view is drawn: whether what it shows differs from the last time. If not, what is open or in focus stays. */
export function changes() {
  let shown;
  return (...data) => shown !== (shown = JSON.stringify(data));
}

/** Whether the first part to be unfolded is open now; "otherwise" when there is none yet. */
export function isUnfolded(place, otherwise) {
  return place.querySelector("details")?.open ?? otherwise;
}

let counter = 0;

/** A field with its label, and a word of explanation. */
export function field(title, input, hint) {
  input.id ||= `field-${++counter}`;
  const explained = hint ? h("span.hint", { id: `${input.id}-hint` }, hint) : null;
  if (explained) input.setAttribute("aria-describedby", explained.id);
  return h("div", h("label", { for: input.id }, title), explained, input);
}

/** A box to tick, with what it means beside it. */
export const check = (input, ...words) => h("label.check", input, h("span", words));

/** heads: names, or {title, number: true}; rows: lists of cells. */
export function table(caption, heads, rows) {
  const kind = (tag, at) => (heads[at].number ? `${tag}.number` : tag);
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": caption },
    h("table",
      h("thead", h("tr", heads.map((head, at) => h(kind("th", at), { scope: "col" }, head.title ?? head)))),
      h("tbody", rows.map((row) => h("tr", row.map((cell, at) => h(kind("td", at), cell)))))));
}

export function number(value) {
  return value === null || value === undefined ? "–" : Number(value).toLocaleString("en");
}

export function counted(value, word, several = `${word}s`) {
  return `${number(value)} ${value === 1 ? word : several}`;
}

/** The day of a time in seconds since 1970. */
export function day(seconds) {
  return new Date(seconds * 1000).toLocaleDateString([], { dateStyle: "medium" });
}

/** A time in seconds since 1970, as people write it. */
export function when(seconds) {
  return seconds ? new Date(seconds * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "–";
}
