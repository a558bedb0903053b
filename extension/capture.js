// Runs in the pages of an active session: what the page shows, without anything that was typed.
"use strict";
(() => {
  if (globalThis.trailhoundCapture) return;
  const QUIET_MILLISECONDS = 250;
  const PATIENCE_MILLISECONDS = 2500;
  const MOST_CHARACTERS = 2_000_000;
  const SMALLEST_FRAME_PIXELS = 50;
  const SECRET_NAME = /csrf|xsrf|token|nonce|session|secret/i;
  const REMOVED = [
    "script", "style", "noscript", "template", "object", "embed",
    "input[type=password i]", "input[type=hidden i]", "trailhound-bar",
  ].join(",");
  const EMPTIED = "textarea, output, [contenteditable]:not([contenteditable=false i])";

  function fingerprint(text) {
    let hash = 0;
    for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    return `${text.length}:${hash}`;
  }

  function cleanAttributes(element) {
    for (const { name, value } of [...element.attributes]) {
      const data = /^data:/i.test(value.trim()) && value.length > 100;
      if (name.startsWith("on") || name === "srcdoc" || name === "nonce" || data) element.removeAttribute(name);
    }
  }

  function clean(root) {
    for (const each of root.querySelectorAll(REMOVED)) each.remove();
    for (const each of root.querySelectorAll(EMPTIED)) each.replaceChildren();
    for (const each of root.querySelectorAll("input, button, select, option, textarea, param, progress, meter")) {
      for (const name of ["value", "checked", "selected", "placeholder"]) each.removeAttribute(name);
    }
    for (const each of root.querySelectorAll("meta[name], meta[property]")) {
      if (SECRET_NAME.test(each.getAttribute("name") ?? each.getAttribute("property"))) each.remove();
    }
    for (const each of [root, ...root.querySelectorAll("*")]) cleanAttributes(each);
    return root;
  }

  function source() {
    const type = document.doctype ? `<!DOCTYPE ${document.doctype.name}>\n` : "";
    // A clone made in an inert document loads nothing and runs nothing.
    const inert = document.implementation.createHTMLDocument("");
    const root = clean(inert.importNode(document.documentElement, true));
    return (type + root.outerHTML).slice(0, MOST_CHARACTERS);
  }

  const isFrame = window !== window.top;
  const tooSmall = () => isFrame && (innerWidth < SMALLEST_FRAME_PIXELS || innerHeight < SMALLEST_FRAME_PIXELS);
  let done = "";
  let timer = 0;

  function send() {
    clearTimeout(timer);
    timer = 0;
    observer.disconnect();
    if (done === location.href || tooSmall() || !(document.documentElement instanceof HTMLElement)) return;
    done = location.href;
    const html = source();
    ask({
      type: "snapshot", url: location.href, title: document.title, referrer: document.referrer,
      html, fingerprint: fingerprint(html), area: innerWidth * innerHeight,
      frameset: document.body instanceof HTMLFrameSetElement,
    });
  }

  function later(milliseconds) {
    clearTimeout(timer);
    timer = setTimeout(send, milliseconds);
  }

  const observer = new MutationObserver(() => {
    if (timer && Date.now() < giveUp) later(QUIET_MILLISECONDS);
  });
  let giveUp = 0;

  /** Takes the page as it is once it has been quiet for a moment. */
  function capture() {
    done = "";
    giveUp = Date.now() + PATIENCE_MILLISECONDS;
    observer.observe(document, { childList: true, subtree: true, characterData: true });
    later(QUIET_MILLISECONDS);
  }

  async function ask(message) {
    try {
      return (await chrome.runtime.sendMessage(message)) ?? {};
    } catch {
      return { active: false }; // the extension was reloaded or removed
    }
  }

  async function begin() {
    const prerendered = Boolean(document.prerendering);
    if (prerendered) await new Promise((shown) => document.addEventListener("prerenderingchange", shown, { once: true }));
    const state = await ask({ type: "hello", url: location.href, prerendered });
    if (state.active && !state.paused && state.recorded) capture();
    globalThis.trailhoundBar?.(state);
  }

  globalThis.trailhoundCapture = { ask, now: () => { if (timer) send(); } };
  chrome.runtime.onMessage.addListener((message) => {
    if (message.type === "capture" && !isFrame) capture();
    if (message.type === "state" && !isFrame) globalThis.trailhoundBar?.(message.state);
  });
  addEventListener("pagehide", () => { if (timer) send(); });
  // A page from the browser's back-forward memory does not run its scripts again.
  addEventListener("pageshow", (event) => { if (event.persisted) begin(); });
  // bar.js comes next; begin when it is there.
  setTimeout(begin, 0);
})();
