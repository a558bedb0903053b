// Asks the extension's worker, from a page of its own.

/** What the worker answers. A browser may stop it at the wrong moment; its answer never comes then. */
export function tellWorker(message) {
  return chrome.runtime.sendMessage(message).catch(() => ({ error: "The extension was interrupted. Try again." }));
}
