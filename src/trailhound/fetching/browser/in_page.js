// What is done within a rendered page, in a world of its own that the page's scripts cannot touch.
// Nothing here asks the network: whatever a click sets off goes the way of all requests.
(() => {
  const REJECT = new RegExp(
    "^(?:" +
      [
        "(?:no,? )?(?:reject|decline|deny|refuse|disagree|opt out)(?: all| cookies| all cookies| optional cookies)?",
        "(?:use |accept |allow )?(?:only )?(?:strictly )?(?:necessary|essential|required)(?: cookies)?(?: only)?",
        "(?:continue|proceed) without (?:accepting|agreeing|consent)", "do not (?:accept|consent|sell.*)",
        "(?:alle )?(?:cookies )?ablehnen", "nur (?:technisch )?(?:notwendige|erforderliche|essenzielle).*", "nicht zustimmen",
        "(?:tout|je) refuser?", "refuser(?: tout)?(?: les cookies)?", "continuer sans accepter",
        "rechazar(?: tod[ao]s?)?(?: las cookies)?", "s[oó]lo (?:las )?necesarias", "rifiuta(?: tutt[oi])?", "solo necessari",
        "continua senza accettare", "(?:rejeitar|recusar)(?: tud[oa]s?| todos)?", "(?:alles )?(?:weigeren|afwijzen)",
        "alleen noodzakelijke?.*", "odrzuć(?: wszystkie)?", "(?:avvisa|neka|avslå)(?: alla| alle)?", "endast nödvändiga.*",
        "(?:afvis|avvis)(?: alle)?", "kun nødvendige.*", "hylkää(?: kaikki)?", "vain välttämättömät.*", "odmítnout(?: vše)?",
        "elutasít(?:om)?.*", "respinge(?: tot)?", "отклонить(?: все)?", "отказаться", "(?:tümünü )?reddet", "απόρριψη(?: όλων)?",
        "(?:すべて)?拒否(?:する)?", "(?:全部)?拒[绝絕](?:所有)?", "(?:모두 )?거부",
      ].join("|") +
      ")$",
    "i",
  );
  const MORE = new RegExp(
    "^(?:" +
      [
        "(?:load|show|see|view) (?:\\d+ )?more(?: .{0,30})?", "more (?:results|articles|posts|items|stories)", "next \\d+",
        "mehr (?:laden|anzeigen|ansehen)", "weitere .{0,30}(?:laden|anzeigen)", "(?:charger|afficher|voir) plus(?: .{0,30})?",
        "(?:cargar|mostrar|ver) más(?: .{0,30})?", "(?:carica|mostra) altr[oi](?: .{0,30})?", "(?:carregar|mostrar|ver) mais(?: .{0,30})?",
        "(?:meer laden|toon meer|laad meer)(?: .{0,30})?", "(?:pokaż|załaduj) więcej(?: .{0,30})?", "(?:visa|ladda|vis|hent) fler[ae]?(?: .{0,30})?",
        "(?:показать|загрузить) ещ[её](?: .{0,30})?", "もっと(?:見る|読み込む)", "(?:加载|載入|查看|显示)?更多", "더 ?보기",
      ].join("|") +
      ")$",
    "i",
  );
  const ABOUT_COOKIES = /cookie|consent|gdpr|datenschutz|privacy|tracking|同意|クッキー/i;
  const BANNERS =
    '[id*="cookie" i],[class*="cookie" i],[id*="consent" i],[class*="consent" i],[id*="gdpr" i],[class*="gdpr" i],[aria-label*="cookie" i],[role="dialog"],[role="alertdialog"],dialog';
  const BUTTONS = 'button,[role="button"],a,input[type="button"],input[type="submit"],summary';
  const ROUTES =
    '[role="link"],[data-href],[data-url],[data-link],[data-to],[data-route],a:not([href]),nav button,[onclick]';
  const HARMFUL = /log ?out|sign ?out|abmelden|delete|remove|löschen|supprimer|unsubscribe|buy|kaufen|pay|order|submit|send/i;

  let changedAt;
  const changed = () => (changedAt = performance.now());
  changed();
  new MutationObserver(changed).observe(document, {
    childList: true, subtree: true, characterData: true,
  });

  const words = (element) =>
    (element.innerText || element.value || element.getAttribute("aria-label") || "").trim().replace(/\s+/g, " ").slice(0, 200);

  // All roots of the document: itself, open shadow roots, frames of the same origin.
  function roots() {
    const found = [document];
    for (let at = 0; at < found.length && found.length < 300; at++) {
      for (const element of found[at].querySelectorAll("*")) {
        if (element.shadowRoot) found.push(element.shadowRoot);
        else if (element.localName === "iframe" && innerDocument(element)) found.push(innerDocument(element));
      }
    }
    return found;
  }

  function innerDocument(frame) {
    try {
      const inner = frame.contentDocument;
      return inner && inner.body && inner.body.childNodes.length ? inner : null;
    } catch {
      return null;
    }
  }

  const all = (selector) => roots().flatMap((root) => [...root.querySelectorAll(selector)]);

  // Until nothing has changed, nor has been done here, for so long.
  function quiet(milliseconds) {
    return new Promise((done) => {
      const look = () => {
        const left = changedAt + milliseconds - performance.now();
        if (left <= 0 && document.readyState !== "loading") done(true);
        else setTimeout(look, Math.max(left, 20));
      };
      look();
    });
  }

  // Reject what may be rejected; take away what only covers the page. Nothing is ever accepted.
  function dismissBanners() {
    let dismissed = 0;
    for (const banner of all(BANNERS).slice(0, 100)) {
      const text = words(banner) + " " + banner.id + " " + banner.className;
      if (!banner.isConnected || !ABOUT_COOKIES.test(text) || (banner.textContent || "").length > 8000) continue;
      const button = [...banner.querySelectorAll(BUTTONS)].find((each) => REJECT.test(words(each)) && !leads(each));
      if (button) button.click();
      const covers = ["fixed", "sticky"].includes(getComputedStyle(banner).position) || banner.matches("dialog,[role]");
      if (button || covers) dismissed++, changed();
      if (covers && banner.isConnected && banner !== document.body) banner.remove();
    }
    return dismissed;
  }

  function leads(element) {
    const href = element.getAttribute("href");
    return href !== null && !/^\s*(#|javascript:|$)/i.test(href);
  }

  const size = () => roots().reduce((sum, root) => sum + root.querySelectorAll("a[href]").length + root.childElementCount, 0) + document.documentElement.scrollHeight;

  // One step further down, if the page has grown: scroll, and press what loads more. Its size
  // before, or null when there was nothing to do.
  function goOn(grownFrom) {
    const before = size();
    if (before <= grownFrom) return null;
    const button = all(BUTTONS).find((each) => MORE.test(words(each)) && !leads(each) && !each.disabled);
    if (button) button.click();
    let moved = Boolean(button);
    const inner = [...document.querySelectorAll("div,main,section,ul")].slice(0, 2000).filter((each) => each.scrollHeight > each.clientHeight + 50 && ["auto", "scroll"].includes(getComputedStyle(each).overflowY));
    for (const each of [document.scrollingElement || document.documentElement, ...inner.slice(0, 3)]) {
      const top = each.scrollTop;
      each.scrollTop = each.scrollHeight;
      moved = moved || each.scrollTop > top;
    }
    if (!moved) return null;
    changed();
    return before;
  }

  let routes = null;
  // Click the next element that may lead elsewhere without being a link; what it says and where
  // the page was, or null.
  function clickNext() {
    routes = routes || all(ROUTES).filter((each) => !leads(each) && !each.closest("form,a[href]") && !HARMFUL.test(words(each)));
    while (routes.length) {
      const next = routes.shift();
      if (!next.isConnected) continue;
      const clicked = [words(next).slice(0, 100), location.href];
      next.click();
      changed();
      return clicked;
    }
    return null;
  }

  function copied(root, inert, absolute) {
    const copy = inert.importNode(root, true);
    const originals = root.querySelectorAll("*"), copies = copy.querySelectorAll("*");
    for (let at = 0; at < originals.length; at++) {
      const original = originals[at];
      if (absolute && original.localName === "a" && original.href) copies[at].setAttribute("href", original.href);
      const inner = original.shadowRoot || (original.localName === "iframe" ? innerDocument(original) : null);
      if (!inner || !copies[at]) continue;
      const place = inert.createElement("div");
      const isFrame = !original.shadowRoot;
      place.setAttribute(isFrame ? "data-frame" : "data-shadow", isFrame ? inner.URL : "open");
      for (const child of isFrame ? inner.body.children : inner.children) place.append(copied(child, inert, absolute || isFrame));
      if (isFrame) copies[at].after(place);
      else copies[at].prepend(place);
    }
    if (root.shadowRoot && copy.prepend) for (const child of root.shadowRoot.children) copy.prepend(copied(child, inert, absolute));
    return copy;
  }

  // The document as it stands, without scripts; links that were found otherwise are added.
  function html(found, maxChars) {
    if (!document.documentElement) return "";
    const inert = document.implementation.createHTMLDocument("");
    const copy = copied(document.documentElement, inert, false);
    for (const each of copy.querySelectorAll('script:not([type*="json"]),noscript,template')) each.remove();
    if (found.length) {
      const nav = inert.createElement("nav");
      nav.setAttribute("data-routes", "found while rendering");
      for (const [href, said] of found) {
        const link = inert.createElement("a");
        link.setAttribute("href", href);
        link.textContent = said;
        nav.append(link, " ");
      }
      (copy.querySelector("body") || copy).append(nav);
    }
    return ("<!DOCTYPE html>" + copy.outerHTML).slice(0, maxChars);
  }

  globalThis.inPage = { quiet, dismissBanners, goOn, clickNext, html, where: () => location.href, back: () => (changed(), history.back()) };
})();
