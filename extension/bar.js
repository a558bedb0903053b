// The bar at the foot of every page of an active session: Useful and Submit.
"use strict";
(() => {
  if (globalThis.trailhoundBar || window !== window.top) return;
  const NOTE_MILLISECONDS = 6000;
  // What a page's own styles must not be able to change; inline and important wins over them.
  const FIXED = {
    all: "initial", display: "block", position: "fixed", inset: "auto 16px 16px auto", margin: "0",
    padding: "0", border: "0", background: "transparent", width: "max-content", height: "max-content",
    "max-width": "calc(100vw - 32px)", overflow: "visible", opacity: "1", visibility: "visible",
    transform: "none", filter: "none", "clip-path": "none", "pointer-events": "auto", "z-index": "2147483647",
    "color-scheme": "normal",
  };
  const STYLE = `
    :host { all: initial }
    .bar { display: flex; align-items: center; gap: 6px; box-sizing: border-box; padding: 5px 6px 5px 12px;
      border: 1px solid #8d99a8; border-radius: 999px; background: #fbfcfd; color: #1d2733;
      font: 13px/1.4 system-ui, sans-serif; box-shadow: 0 2px 10px rgb(0 0 0 / .28);
      max-width: calc(100vw - 32px) }
    .topic { max-width: 16em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: #4a5868 }
    button { font: inherit; font-weight: 600; padding: 4px 12px; border-radius: 999px; cursor: pointer;
      border: 1px solid #8d99a8; background: #fff; color: #1d2733; white-space: nowrap }
    button:hover { background: #eef2f6 } button:focus-visible { outline: 2px solid #1a6ed8; outline-offset: 1px }
    button[aria-pressed=true] { background: #1c7a43; border-color: #1c7a43; color: #fff }
    @media (prefers-color-scheme: dark) {
      .bar { background: #212a35; color: #eef2f6; border-color: #5d6b7b } .topic { color: #b8c4d2 }
      button { background: #2f3b49; color: #eef2f6; border-color: #5d6b7b } button:hover { background: #3b4959 }
      button[aria-pressed=true] { background: #38a866; border-color: #38a866; color: #06170d } }
    @media print { .bar { display: none } }`;

  const host = document.createElement("trailhound-bar");
  const root = host.attachShadow({ mode: "closed" });
  const style = document.createElement("style");
  style.textContent = STYLE;
  const bar = element("div", "bar", "");
  const topic = element("span", "topic", "");
  const useful = element("button", "useful", "Useful");
  const submit = element("button", "submit", "Submit");
  bar.setAttribute("role", "region");
  bar.setAttribute("aria-label", "Trailhound");
  bar.append(topic, useful, submit);
  root.append(style, bar);

  function element(kind, name, text) {
    const made = document.createElement(kind);
    made.className = name;
    made.textContent = text;
    return made;
  }

  function place() {
    for (const [name, value] of Object.entries(FIXED)) host.style.setProperty(name, value, "important");
    if (!host.isConnected) document.documentElement.append(host);
    // Above everything, whatever the page does with stacking and transforms.
    if (host.showPopover) {
      host.setAttribute("popover", "manual");
      if (!host.matches(":popover-open")) host.showPopover();
    }
  }

  function note(text) {
    topic.textContent = text;
    useful.hidden = submit.hidden = true;
    useful.style.display = submit.style.display = "none";
    setTimeout(() => host.remove(), NOTE_MILLISECONDS);
  }

  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  globalThis.trailhoundBar = (state) => {
    if (!state.active) {
      if (host.isConnected && state.submitted) note(`Submitted: ${count(state.pages, "page")}, ${state.targets} useful`);
      else host.remove();
      return;
    }
    topic.textContent = state.paused ? "Paused" : state.recorded ? state.topic : "Not recorded";
    topic.title = `${count(state.pages, "page")}, ${state.targets} useful`;
    useful.style.display = state.paused || !state.recorded ? "none" : "";
    submit.style.display = "";
    useful.setAttribute("aria-pressed", String(state.useful));
    useful.textContent = state.useful ? "✓ Useful" : "Useful";
    place();
  };

  // A page's script can make clicks, but not trusted ones.
  useful.addEventListener("click", (event) => {
    if (!event.isTrusted) return;
    globalThis.trailhoundCapture.now();
    const wanted = useful.getAttribute("aria-pressed") !== "true";
    globalThis.trailhoundCapture.ask({ type: "mark", url: location.href, useful: wanted });
  });
  submit.addEventListener("click", (event) => {
    if (!event.isTrusted) return;
    globalThis.trailhoundCapture.now();
    globalThis.trailhoundCapture.ask({ type: "submit" });
  });
})();
