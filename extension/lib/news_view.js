// News as elements, for popup and new tab. Words from the web go in as text; only web addresses are links.
let shown = "";

function element(kind, words, more = {}) {
  const made = document.createElement(kind);
  made.textContent = words;
  for (const [name, value] of Object.entries(more)) made.setAttribute(name, value);
  return made;
}

/** Draws what is new into a place; act(type, more) sends what a person says. */
export function showNews(place, news, act, mostFinds) {
  const wanted = JSON.stringify([news.topics, mostFinds]);
  if (wanted === shown) return;
  shown = wanted;
  place.replaceChildren(...news.topics.map((topic) => topicNews(topic, act, mostFinds)));
}

function topicNews(topic, act, mostFinds) {
  const section = element("section", "", { class: "news" });
  const head = element("div", "", { class: "newsHead" });
  const seen = element("button", "All seen", { class: "link", "aria-label": `All seen: ${topic.topic}` });
  seen.addEventListener("click", () => act("newsSeen", { topic: topic.topic }));
  head.append(element("h2", topic.topic), element("span", counts(topic), { class: "small" }), seen);
  const list = element("ul", "");
  list.append(...topic.finds.slice(0, mostFinds).map((find) => findItem(topic.topic, find, act)));
  section.append(head, list);
  return section;
}

function counts({ new: fresh, changed }) {
  return [fresh && `${fresh} new`, changed && `${changed} changed`].filter(Boolean).join(", ");
}

function findItem(topic, find, act) {
  const item = element("li", "");
  const title = find.title || find.url;
  const link = element("a", title, { target: "_blank", rel: "noopener noreferrer" });
  if (/^https?:\/\//i.test(find.url)) link.setAttribute("href", find.url);
  const buttons = element("div", "", { class: "buttons" });
  for (const [words, useful] of [["Useful", true], ["Not useful", false]]) {
    const button = element("button", words, { "aria-label": `${words}: ${title}` });
    button.addEventListener("click", async () => {
      button.disabled = true;
      await act("newsMark", { topic, url: find.url, useful });
      button.disabled = false; // it is still there when the app did not take it
    });
    buttons.append(button);
  }
  item.append(link, ...(find.new ? [] : [element("span", " changed", { class: "small" })]), element("p", find.snippet, { class: "small" }), buttons);
  return item;
}
