// What one tab has shown, and how it came to show it. Plain objects in, plain objects out.

const REACHED = {
  link: "link",
  typed: "typed",
  generated: "typed",
  keyword: "typed",
  keyword_generated: "typed",
  start_page: "typed",
  auto_toplevel: "typed",
  auto_bookmark: "bookmark",
  form_submit: "form",
  reload: "reload",
  auto_subframe: "link",
  manual_subframe: "link",
};
const LONGEST_HISTORY = 200;

// holders, beside the figures of a visit: pages in frames that may have held the link.

export function newTab() {
  return {
    current: null, // the recorded page on the screen
    history: [], // what back and forward lead through; null where nothing was recorded
    index: -1,
    opener: null, // the page whose link opened this tab
    requested: {}, // frame number to the last two addresses asked for
    frames: {}, // frame number to the recorded page in it
    waiting: {}, // frame number to the visit that waits for its page's content
    frameset: false, // whether the page on the screen is nothing but frames
    inner: null, // then: the page in a frame that a person would call the page
  };
}

/** A navigation of the whole tab: moves the history along and says how the page was reached. */
export function moveTab(tab, move, recordable) {
  const url = recordable ? move.url : null;
  const qualifiers = move.transitionQualifiers || [];
  const from = tab.current ?? (tab.index < 0 ? tab.opener : null);
  let reached = REACHED[move.transitionType] || "link";
  if (qualifiers.includes("forward_back")) {
    reached = travel(tab, url);
  } else if (reached === "reload") {
    if (tab.index < 0) push(tab, url);
    tab.history[tab.index] = url;
  } else {
    push(tab, url);
  }
  const holders = reached === "link" || reached === "form" ? Object.values(tab.frames) : [];
  tab.current = url;
  tab.opener = null;
  tab.frames = {};
  tab.frameset = false;
  tab.inner = null;
  return { reached, from_url: from, holders };
}

function push(tab, url) {
  tab.history = [...tab.history.slice(0, tab.index + 1), url].slice(-LONGEST_HISTORY);
  tab.index = tab.history.length - 1;
}

/** Browsers say that it was back or forward, not which: the nearest page in the history tells. */
function travel(tab, url) {
  for (let distance = 1; distance < tab.history.length; distance += 1) {
    for (const [step, reached] of [[-distance, "back"], [distance, "forward"]]) {
      if (tab.history[tab.index + step] === url) {
        tab.index += step;
        return reached;
      }
    }
  }
  // History from before the session.
  tab.history = [url, ...tab.history];
  tab.index = 0;
  return "back";
}

/** A navigation inside a frame. Frames that come with their page are reached from it. */
export function moveFrame(tab, move) {
  const outer = move.parentFrameId === 0 ? tab.current : (tab.frames[move.parentFrameId] ?? null);
  const before = tab.frames[move.frameId] ?? null;
  const automatic = move.transitionType === "auto_subframe";
  const holders = automatic ? [] : Object.values(tab.frames);
  tab.frames[move.frameId] = move.url;
  if (before && move.transitionQualifiers?.includes("forward_back")) {
    return { reached: "back", from_url: before, frame_of: outer };
  }
  return {
    reached: automatic ? "link" : REACHED[move.transitionType] || "link",
    from_url: automatic ? outer : (before ?? outer),
    frame_of: outer,
    holders,
  };
}

/** Of a frameset's pages the largest counts at first, then the one that was opened last. */
export function noteInner(tab, visit, area) {
  const automatic = visit.frame_of === visit.from_url;
  if (visit.frame_of !== tab.current) return;
  if (!tab.inner || !automatic || area > tab.inner.area) tab.inner = { url: visit.url, area };
}

/** The page that Useful is about. */
export function judgedUrl(tab) {
  return tab.frameset && tab.inner ? tab.inner.url : tab.current;
}

/** A navigation begins. After a redirect Firefox tells this again, Chromium does not. */
export function noteRequested(tab, move) {
  const before = tab.requested[move.frameId] ?? [];
  tab.requested[move.frameId] = [...before.slice(-1), move.url];
}

/** The address asked for, when redirects led from there to the one shown. */
export function requestedUrl(tab, move) {
  const [last, before] = (tab.requested[move.frameId] ?? []).reverse();
  delete tab.requested[move.frameId];
  const differs = (url) => Boolean(url) && withoutFragment(url) !== withoutFragment(move.url);
  if (differs(last)) return last;
  // Whatever was asked for before may as well have come to nothing, unless the browser says so.
  return move.transitionQualifiers?.includes("server_redirect") && differs(before) ? before : null;
}

/** Fragments mark places in a page, but some applications keep their pages there. */
export function isRoute(url) {
  return /#[!/]/.test(url);
}

export function withoutFragment(url) {
  return url.split("#", 1)[0];
}
