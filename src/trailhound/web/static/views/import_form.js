// A form that sends a recording of another program, or a session file, to a topic.

import { get, path, query, upload } from "../lib/api.js";
import { check, field, h, replace } from "../lib/dom.js";
import { attempt } from "../lib/shell.js";

/** By how names of files end: what they most likely are. Proxies' logs are told by their first line, which begins with a time in seconds. */
const KINDS = [
  [/\.har$/i, "har"], [/\.(warc|warc\.gz|wacz)$/i, "warc"], [/^history$/i, "chrome"], [/^places\.sqlite$/i, "firefox"],
  [/\.jsonl$/i, "session"], [/\.log/i, "combined"],
];

/** A card, folded up; unfold() shows it. Its form is made when it is first seen. jobs is told of the import that begins. */
export function importCard(name, jobs) {
  const place = h("div");
  let made = null;
  const make = () => { made ??= attempt(null, async () => replace(place, form(name, jobs, await get("/api/imports")))); return made; };
  const element = h("details.card", { ontoggle: () => { if (element.open) make(); } }, h("summary", "Import a recording"), place);
  return { element, async unfold() { element.open = true; await make(); element.querySelector("input")?.focus(); } };
}

function form(name, jobs, { kinds, user_agent: known }) {
  const file = h("input", { type: "file", required: true });
  const kind = h("select", kinds.map((each) => h("option", { value: each.kind }, `${each.kind} – ${each.summary.replace(/^Import (the |an? )?/, "").replace(/\.$/, "")}`)));
  const site = h("input", { type: "url", placeholder: "https://www.example.org", spellcheck: "false" });
  const whose = field("Whose log it is", site, "Most servers' logs do not name their own site.");
  const showWhose = () => { whose.hidden = !kinds.find((each) => each.kind === kind.value).takes_site; };
  kind.addEventListener("change", showWhose);
  showWhose();
  const fetched = h("input", { type: "checkbox" });
  const agent = h("input", { type: "text", value: known, placeholder: "bees-bot (+https://example.org/bot)", spellcheck: "false" });
  const who = field("Who asks", agent, "A name and a way to reach you: sites are told it with every request.");
  who.hidden = true;
  fetched.addEventListener("change", () => { who.hidden = !fetched.checked; });
  file.addEventListener("change", async () => {
    const chosen = file.files[0];
    const start = await chosen?.slice(0, 40).text().catch(() => "");
    if (chosen !== file.files[0]) return;
    const guess = /^\d{9,}\.\d+ +\d/.test(start) ? "squid" : KINDS.find(([ending]) => ending.test(chosen?.name ?? ""))?.[1];
    if (kinds.some((each) => each.kind === guess)) kind.value = guess;
    showWhose();
  });
  const button = h("button.primary", { type: "submit" }, "Import");
  const send = async () => {
    const said = { kind: kind.value, name: file.files[0].name, site: whose.hidden ? "" : site.value.trim(), fetch: fetched.checked, user_agent: fetched.checked ? agent.value.trim() : "" };
    button.textContent = "Sending …";
    try {
      await jobs.watch(await upload(query(path`/api/topics/${name}/import`, said), file.files[0]));
    } finally {
      button.textContent = "Import";
    }
  };
  return h("form.stack", { onsubmit: (event) => { event.preventDefault(); attempt(button, send); } },
    h("p", "What another program has recorded becomes a session of this topic: a HAR file of the browser's developer tools, a web archive, a browser's history, a proxy's log, or a session file. Mark the useful pages afterwards. The file stays on this computer."),
    field("File", file), field("What it is", kind), whose,
    check(fetched, "Ask the web for pages without content, 500 at most: histories and logs have only addresses"), who, button);
}
