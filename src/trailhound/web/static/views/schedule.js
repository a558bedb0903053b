// When a topic is crawled by itself: you browse by day, it crawls by night.

import { get, path, put } from "../lib/api.js";
import { field, h, replace } from "../lib/dom.js";
import { isResting, notice, rest, topicHead, whenever } from "../lib/shell.js";
import { MAX_DELAY_SECONDS, MAX_REQUESTS } from "./crawl_form.js";

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const check = (input, ...words) => h("label.check", input, h("span", words));

export async function schedule(place, [topic]) {
  const address = path`/api/topics/${topic}/schedule`;
  const summary = summaryCard();
  const view = await get(address);
  summary.show(view);
  replace(place, topicHead(topic, "schedule"), summary.element, form(address, view, summary.show),
    h("p.quiet.small.spaced", "The app keeps the schedule while it runs, and so does trailhound collect. To have it always there: ",
      h("code", "trailhound serve --background"), ", or ", h("code", "trailhound serve --install"), " to start it with the machine."));
  return whenever(["crawl", "schedule"], async (happening) => {
    if (happening.topic && happening.topic !== topic) return;
    const fresh = await get(address).catch(() => null);
    if (fresh) summary.show(fresh);
  });
}

/** Whether it says when to crawl. */
function hasOccasion(schedule) {
  return schedule.nightly !== null || schedule.on_submit;
}

function summaryCard() {
  const badge = h("span"), words = h("p", { role: "status" }), last = h("dd.wrap"), next = h("dd.wrap");
  function show(view) {
    const isOn = view.schedule.on && hasOccasion(view.schedule);
    replace(badge, h("span.badge", { class: isOn ? "good" : "" }, isOn ? "on" : "off"));
    if (words.textContent !== view.words) replace(words, view.words);
    replace(last, view.last);
    replace(next, view.next);
  }
  return {
    element: h("section.card", h("div.row", h("h2.flat", "Schedule"), badge), words,
      h("dl.setup", h("dt", "What happened last"), last, h("dt", "What comes next"), next)),
    show,
  };
}

function form(address, { schedule: now, user_agent: agent }, show) {
  const on = h("input", { type: "checkbox", checked: now.on || (now.nightly === null && !now.on_submit) });
  const nightly = nightFields(now.nightly);
  const submit = h("input", { type: "checkbox", checked: now.on_submit });
  const requests = h("input", { type: "number", min: "1", max: MAX_REQUESTS, step: "1", required: true, value: now.requests });
  const delay = h("input", { type: "number", min: "0", max: MAX_DELAY_SECONDS, step: "any", placeholder: "as the crawl is set up", value: now.delay_seconds ?? "" });
  const who = h("input", { type: "text", value: agent, placeholder: "bees-bot (+https://example.org/bot)", spellcheck: "false" });
  const refresh = h("input", { type: "checkbox", checked: now.refresh });
  const trouble = h("p.trouble", { role: "alert", hidden: true });
  const button = h("button.primary", { type: "submit" }, "Save");

  async function save(event) {
    event.preventDefault();
    if (isResting(button)) return;
    rest(button, true);
    trouble.hidden = true;
    try {
      const saved = await put(address, {
        on: on.checked, nightly: nightly.said(), on_submit: submit.checked, requests: Number(requests.value),
        delay_seconds: delay.value === "" ? null : Number(delay.value), refresh: refresh.checked, user_agent: who.value.trim(),
      });
      show(saved);
      if (on.checked && !hasOccasion(saved.schedule)) throw new Error("Saved, but nothing is scheduled yet. Choose when: every night, or whenever a session is submitted.");
      notice("The schedule is saved.");
    } catch (error) {
      replace(trouble, error.message);
      trouble.hidden = false;
    } finally {
      rest(button, false);
    }
  }
  return h("form.stack", { onsubmit: save, "aria-label": "Schedule" },
    h("fieldset.stack", h("legend", "When"),
      check(on, h("strong", "Crawl this topic by itself")),
      nightly.element,
      check(submit, "Whenever a session is submitted: learn from it, then crawl")),
    h("fieldset.stack", h("legend", "How much, how politely"),
      h("div.columns",
        field("Requests a night", requests, "At most, and after a submit."),
        field("Seconds between requests to one site", delay, "At night there is time: more is kinder."),
        field("Who is crawling", who, "A name and a way to reach you, which sites are told.")),
      check(refresh, "Begin with finds that are due to be looked at again: what changed is told apart from what is new")),
    trouble, h("div.row", button));
}

function nightFields(window) {
  const use = h("input", { type: "checkbox", checked: window !== null });
  const from = h("input", { type: "time", required: true, value: window?.start ?? "22:00", "aria-label": "From" });
  const to = h("input", { type: "time", required: true, value: window?.end ?? "06:00", "aria-label": "To" });
  const days = DAYS.map((_, day) => h("input", { type: "checkbox", checked: window === null || window.days.includes(day) }));
  const times = h("div.inset.stack",
    h("div.row", h("span", "from"), from, h("span", "to"), to),
    h("div.row", { role: "group", "aria-label": "Nights that begin on" }, h("span.quiet", "nights that begin on"), days.map((box, day) => check(box, DAYS[day]))));
  const toggle = () => { for (const input of [from, to, ...days]) input.disabled = !use.checked; };
  use.addEventListener("change", toggle);
  toggle();
  return {
    element: h("div.stack", check(use, "Every night"), times),
    said: () => (use.checked ? { start: from.value, end: to.value, days: days.flatMap((box, day) => (box.checked ? [day] : [])) } : null),
  };
}
