// A new tab that begins with what was found, when the popup's setting says so.
import { showNews } from "./lib/news_view.js";
import { tellWorker } from "./lib/worker.js";

const MOST_FINDS = 20;
const find = (id) => document.getElementById(id);

async function act(type, more = {}) {
  const answer = await tellWorker({ type, ...more });
  find("problem").hidden = !answer.error;
  find("problem").textContent = answer.error ?? "";
  if (answer.topics) show(answer);
}

function show(news) {
  find("nothing").hidden = news.topics.length > 0;
  showNews(find("news"), news, act, MOST_FINDS);
}

find("off").addEventListener("click", async () => {
  await act("newTab", { shown: false });
  find("off").textContent = "New tabs are as before.";
  find("off").disabled = true;
});
await act("news");
