// Search over the files in data/, which Trailhound wrote: see site_index.py for what is in them.
"use strict";
(() => {
  const site = TRAILHOUND;
  const PER_PAGE = 20;
  const MAX_WORDS = 8;
  const MAX_ENDINGS = 2000;
  const FACET_VALUES = 12;
  const SNIPPET_CHARS = 260;
  const LEVELS = 8;
  const SPACELESS = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;
  const RUNS = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+/g;

  const $ = (id) => document.getElementById(id);
  const form = $("search"), box = $("q");
  const first = { hits: [...$("hits").childNodes], told: $("told").textContent, paging: [...$("paging").childNodes] };
  const facetsOf = {
    host: { title: "Site", values: site.hosts, name: (value) => value },
    language: {
      title: "Language",
      values: site.languages.map(([code]) => code),
      name: (value) => (site.languages.find(([code]) => code === value) || [value, value])[1],
    },
  };

  // Files

  const loading = new Map();
  function load(file) {
    if (!loading.has(file)) {
      loading.set(file, new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = `data/${file}.js?${form.dataset.stamp}`;
        script.onload = done;
        script.onerror = () => { loading.delete(file); failed(new Error(`data/${file}.js is missing`)); };
        document.head.append(script);
      }));
    }
    return loading.get(file);
  }

  const ready = [];  // terms and postings, split, by the number of their file
  async function shard(number) {
    await load(`terms-${number}`);
    if (!ready[number]) {
      const [terms, postings] = site.terms[number];
      ready[number] = { terms: terms.split(" "), postings: postings.split(" ") };
    }
    return ready[number];
  }

  // Words

  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  // What a query looks for: {term, exact}. The beginning of a word is enough.
  function wanted(query) {
    const found = [];
    for (const [word] of plain(query).matchAll(/[\p{L}\p{N}]+/gu)) {
      for (const [run] of word.matchAll(RUNS)) {
        if (!SPACELESS.test(run)) {
          found.push({ term: run.slice(0, 40), exact: run.length === 1 });
        } else if (run.length === 1) {
          found.push({ term: run, exact: false });
        } else {
          for (let at = 0; at + 1 < run.length; at++) found.push({ term: run.slice(at, at + 2), exact: true });
        }
      }
    }
    return found.slice(0, MAX_WORDS);
  }

  // The first place in a sorted array that is not before a value.
  function placeOf(sorted, value) {
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  }

  // How much each page is about one word: a number for each page, 0 where it is not there.
  async function weigh({ term, exact }) {
    const weights = new Float32Array(site.size);
    const last = exact ? term : term + "\uffff";
    let number = Math.max(0, placeOf(site.bounds, term) - (site.bounds.includes(term) ? 0 : 1));
    let endings = 0;
    for (; number < site.bounds.length && site.bounds[number] <= last; number++) {
      const { terms, postings } = await shard(number);
      for (let at = placeOf(terms, term); at < terms.length && terms[at] <= last; at++) {
        if (++endings > MAX_ENDINGS) return weights;
        const likeness = terms[at] === term ? 1 : 0.6 * term.length / terms[at].length;
        add(weights, postings[at], likeness);
      }
    }
    return weights;
  }

  function add(weights, written, likeness) {
    const found = [...written.matchAll(/([0-9a-z]*)([A-P])/g)];
    const rarity = Math.log(1 + (site.size - found.length + 0.5) / (found.length + 0.5));
    let page = -1;
    for (const [, gap, letter] of found) {
      page += gap ? parseInt(gap, 36) : 1;
      const level = letter.charCodeAt(0) - 65;
      const titled = level >= LEVELS;
      const weight = rarity * likeness * (((level % LEVELS) + 1) / LEVELS + (titled ? 1.5 : 0));
      weights[page] = Math.max(weights[page], weight);
    }
  }

  // Pages that hold all words, best first; without words all of them.
  async function matching(words) {
    const pages = [];
    const merits = new Float32Array(site.size);
    const all = await Promise.all(words.map(weigh));
    for (let page = 0; page < site.size; page++) {
      if (all.every((weights) => weights[page] > 0)) {
        for (const weights of all) merits[page] += weights[page];
        pages.push(page);
      }
    }
    return pages.sort((one, other) => merits[other] - merits[one] || one - other);
  }

  // State: what the address says behind its #

  function asked() {
    const said = new URLSearchParams(location.hash.slice(1));
    const page = Math.max(1, parseInt(said.get("page") || "1", 10) || 1);
    return { q: said.get("q") || "", host: said.get("host") || "", language: said.get("language") || "", order: said.get("order") === "newest" ? "newest" : "", page };
  }

  function addressOf(state) {
    const kept = Object.entries(state).filter(([name, value]) => value && !(name === "page" && value === 1));
    return "#" + new URLSearchParams(kept.map(([name, value]) => [name, String(value)]));
  }

  // What is shown

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const day = (days) => new Date(days * 86400000).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

  // Places of words that were searched for: [start, end, which].
  function matchesIn(text, words) {
    const found = [];
    for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
      const word = plain(match[0]);
      const which = words.findIndex(({ term, exact }) =>
        SPACELESS.test(term) ? word.includes(term) : exact ? word === term : word.startsWith(term));
      if (which >= 0) found.push([match.index, match.index + match[0].length, which]);
    }
    return found;
  }

  function marked(text, words, start = 0, end = text.length) {
    const pieces = [];
    let at = start;
    for (const [from, to] of matchesIn(text, words)) {
      if (from < start || to > end) continue;
      pieces.push(text.slice(at, from), element("mark", {}, text.slice(from, to)));
      at = to;
    }
    return [...pieces, text.slice(at, end)];
  }

  // The stretch of a text that holds most of the words, whole words at its ends.
  function passage(text, snippet, words) {
    const places = matchesIn(text, words);
    if (!places.length) return marked(snippet, words);
    let best = 0, most = 0;
    places.forEach(([from], number) => {
      const near = places.slice(number).filter(([, to]) => to <= from + SNIPPET_CHARS - 60);
      const different = new Set(near.map(([, , which]) => which)).size;
      if (different > most) { most = different; best = from; }
    });
    let start = Math.max(0, best - 60);
    if (start) start = Math.min(best, text.indexOf(" ", start) + 1 || best);
    let end = Math.min(text.length, start + SNIPPET_CHARS);
    if (end < text.length) end = Math.max(best + 1, text.lastIndexOf(" ", end));
    return [start ? "…\u00a0" : "", ...marked(text, words, start, end), end < text.length ? "\u00a0…" : ""];
  }

  function shownPage(page, [address, title, own, text], words) {
    const snippet = own || text.slice(0, SNIPPET_CHARS);
    const heading = element("h2", { dir: "auto" });
    const link = /^https?:\/\//.test(address);
    heading.append(...(link ? [element("a", { href: address, rel: "noopener noreferrer nofollow" }, ...marked(title, words))] : marked(title, words)));
    const language = site.languages[site.language[page]];
    const rest = day(site.found[page]) + (language[0] ? ` · ${language[1]}` : "");
    const where = element("p", { class: "where" }, element("span", { class: "host" }, site.hosts[site.host[page]]), " ", element("span", { class: "rest" }, rest));
    const said = element("p", { class: "snippet", dir: "auto" }, ...(words.length ? passage(text, snippet, words) : [snippet]));
    return element("li", {}, heading, where, ...(snippet ? [said] : []));
  }

  function control(label, state, attributes) {
    return element("a", { href: addressOf(state), ...attributes }, ...[label].flat());
  }

  function showFacets(state, pages) {
    const sections = [];
    for (const [name, facet] of Object.entries(facetsOf)) {
      const others = Object.keys(facetsOf).filter((other) => other !== name && state[other]);
      const counts = new Array(facet.values.length).fill(0);
      for (const page of pages) {
        if (others.every((other) => facetsOf[other].values[site[other][page]] === state[other])) counts[site[name][page]]++;
      }
      const offered = counts.map((count, value) => [count, value])
        .filter(([count, value]) => facet.values[value] && (count || facet.values[value] === state[name]))
        .sort(([one], [other]) => other - one);
      const shown = offered.filter(([, value], place) => place < FACET_VALUES || facet.values[value] === state[name]);
      if (shown.length < 2 && !state[name]) continue;
      const rows = shown.map(([count, value]) => {
        const chosen = facet.values[value] === state[name];
        const label = element("span", { class: "name", title: facet.values[value] }, facet.name(facet.values[value]));
        const more = chosen
          ? [element("span", { class: "unseen" }, "(remove this filter)"), element("span", { class: "count", "aria-hidden": "true" }, "✕")]
          : [element("span", { class: "count" }, count.toLocaleString("en"))];
        const target = { ...state, page: 1, [name]: chosen ? "" : facet.values[value] };
        return element("li", {}, control([label, " ", ...more], target, chosen ? { class: "chosen", "aria-current": "true" } : {}));
      });
      sections.push(element("section", {}, element("h2", {}, facet.title), element("ul", {}, ...rows)));
    }
    $("filters").replaceChildren(...sections);
    $("filters").hidden = !sections.length;
  }

  function showOrder(state, total) {
    const best = state.order ? control("Best first", { ...state, order: "", page: 1 }) : element("b", {}, "Best first");
    const newest = state.order ? element("b", {}, "Newest first") : control("Newest first", { ...state, order: "newest", page: 1 });
    $("order").replaceChildren(element("a", { class: "to-filters", href: "#filters" }, "Filters"), best, " · ", newest);
    $("order").hidden = total < 2;
    $("order").querySelector(".to-filters").addEventListener("click", (event) => {
      event.preventDefault();
      $("filters").scrollIntoView();
    });
  }

  function showPaging(state, last) {
    const links = [];
    if (state.page > 1) links.push(control("← Previous", { ...state, page: state.page - 1 }, { rel: "prev" }));
    if (state.page < last) links.push(control("Next →", { ...state, page: state.page + 1 }, { rel: "next" }));
    $("paging").replaceChildren(...links);
  }

  let latest = 0;
  async function show() {
    const turn = ++latest;
    const state = asked();
    if (document.activeElement !== box) box.value = state.q;
    const words = wanted(state.q);
    const isHome = !state.q && !state.host && !state.language && !state.order && state.page === 1;
    try {
      const pages = state.q && !words.length ? [] : await matching(words);
      const left = pages.filter((page) => Object.keys(facetsOf).every((name) => !state[name] || facetsOf[name].values[site[name][page]] === state[name]));
      if (state.order) left.sort((one, other) => site.found[other] - site.found[one] || one - other);
      const last = Math.max(1, Math.ceil(left.length / PER_PAGE));
      state.page = Math.min(state.page, last);
      const shown = left.slice((state.page - 1) * PER_PAGE, state.page * PER_PAGE);
      await Promise.all([...new Set(shown.map((page) => Math.floor(page / site.pagesPerFile)))].map((file) => load(`pages-${file}`)));
      if (turn !== latest) return;
      showFacets(state, pages);
      showOrder(state, left.length);
      if (isHome) {
        $("hits").replaceChildren(...first.hits);
        $("told").textContent = first.told;
        $("paging").replaceChildren(...first.paging);
        return;
      }
      const rows = shown.map((page) => shownPage(page, site.pages[Math.floor(page / site.pagesPerFile)][page % site.pagesPerFile], words));
      const none = element("p", {}, "No page holds all of these words. Try fewer of them, or only the beginning of one.");
      $("hits").replaceChildren(rows.length ? element("ol", { class: "hits", start: (state.page - 1) * PER_PAGE + 1 }, ...rows) : none);
      $("told").textContent = left.length ? counted(left.length, "page") + (last > 1 ? `, part ${state.page.toLocaleString("en")} of ${last.toLocaleString("en")}` : "") : "Nothing found.";
      showPaging(state, last);
    } catch (error) {
      if (turn === latest) $("told").textContent = `The search did not work: ${error.message}.`;
    }
  }

  let waiting = 0;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => location.replace(addressOf({ ...asked(), q: box.value.trim(), page: 1 })), 120);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    location.hash = addressOf({ ...asked(), q: box.value.trim(), page: 1 });
  });
  window.addEventListener("hashchange", () => {
    if (location.hash !== "#main") show();
  });
  $("results").addEventListener("click", (event) => {
    if (event.target.closest(".paging a[rel]")) $("results").scrollIntoView();
  });

  form.hidden = false;
  show();
})();
