"use strict";

const PAGE = 100; // messages fetched at a time
const MOST = 500; // rows kept in the list; older ones are fetched again when asked for
const WAIT = 5; // seconds the server holds an answer until something is new
const PAUSE = 400; // milliseconds between two live answers, so that a campaign does not keep the page busy

const at = (id) => document.getElementById(id);
const state = { rows: [], last: 0, to: "", thread: "", currency: "", kinds: [], round: 0, seen: false, waiting: null, faults: "" };

// -- small things ------------------------------------------------------------------------------------------------------

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children); // strings become text, never markup
  return made;
}

async function ask(path, method = "GET", fields = undefined, signal = undefined) {
  const options = { method, signal, headers: {} };
  if (fields !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(fields);
  }
  const reply = await fetch(path, options);
  const found = await reply.json();
  if (!reply.ok) throw new Error(found.error || `status ${reply.status}`);
  return found;
}

function save(name, value) {
  const address = URL.createObjectURL(new Blob([JSON.stringify(value, null, 1)], { type: "application/json" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const say = (text) => { at("said").textContent = text; };
const whole = (number) => Number(number).toLocaleString("en-US");
const counted = (number, one) => `${whole(number)} ${one}${number === 1 ? "" : "s"}`;
const clockTime = (iso) => new Date(iso).toLocaleTimeString("en-GB");
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Six places are exact; trailing zeros beyond two are noise, unless a column needs them to line up.
const money = (text, places = 2) => text
  .replace(new RegExp(`(\\.\\d{${places}}\\d*?)0+$`), "$1")
  .replace(/\B(?=(\d{3})+\.)/g, ",");
const placesOf = (text) => text.replace(/0+$/, "").split(".")[1].length;

// Whatever a person starts is shown to have failed where they look: in the line of state.
function guarded(act) {
  return async (event) => {
    event?.preventDefault();
    try {
      await act(event);
    } catch (error) {
      showLive("off", error.message);
      say(error.message);
    }
  };
}

function showLive(how, text) {
  at("live").className = how;
  at("live").textContent = text;
}

// -- the list ----------------------------------------------------------------------------------------------------------

function filters() {
  const chosen = { to: state.to, kind: at("kind").value, text: at("search").value.trim(), shape: at("wording").value };
  return new URLSearchParams(Object.entries(chosen).filter(([, value]) => value));
}

function query(more) {
  const found = filters();
  for (const [key, value] of Object.entries({ detail: 1, newest: 1, limit: PAGE, ...more })) found.set(key, value);
  return `inbox.json?${found}`;
}

function copyButton(code) {
  const copy = guarded(async (event) => {
    const button = event.currentTarget;
    await navigator.clipboard.writeText(code);
    button.querySelector("span").textContent = "Copied";
    say(`Code ${code} copied`);
    setTimeout(() => { button.querySelector("span").textContent = "Copy"; }, 1500);
  });
  const label = element("span", {}, "Copy");
  return element("button", { type: "button", class: "copy", onclick: copy, "aria-label": `Copy code ${code}` }, element("code", {}, code), label);
}

function rowOf(message) {
  const parts = message.parts === 1 && message.encoding === "gsm7" ? "" : `, ${cost(message)}`;
  const row = element(
    "button",
    { type: "button", class: "row", "data-to": message.to, onclick: guarded(() => openThread(message.to)) },
    element("span", { class: "number" }, message.to),
    element("time", { class: "when", datetime: message.at, title: message.at }, clockTime(message.at)),
    element("span", { class: "said", dir: "auto" }, message.text),
    element("span", { class: "cost" }, `${message.iso}${parts}`, element("span", { class: "comma" }, ", "), element("br"), `${message.currency} ${money(message.price)}`),
  );
  return element("li", message.code ? { class: "has-code" } : {}, row, ...(message.code ? [copyButton(message.code)] : []));
}

function cost(message) {
  return `${counted(message.parts, "part")} ${message.encoding === "ucs2" ? "UCS-2" : "GSM-7"}`;
}

function drawList() {
  const focused = document.activeElement?.closest?.("#list li");
  const kept = focused ? [...at("list").children].indexOf(focused) : -1;
  const place = kept >= 0 && document.activeElement.classList.contains("copy") ? ".copy" : ".row";
  const id = kept >= 0 ? focused.dataset.id : "";
  at("list").replaceChildren(...state.rows.map((message) => {
    const drawn = rowOf(message);
    drawn.dataset.id = message.id;
    return drawn;
  }));
  if (id) at("list").querySelector(`[data-id="${id}"] ${place}`)?.focus();
  markThread();
  const none = state.rows.length === 0;
  at("empty").hidden = !none;
  const narrowed = [...filters()].length > 0;
  at("empty-text").textContent = narrowed ? "No message fits these filters." : "No messages yet.";
  at("empty-how").hidden = at("example").hidden = narrowed;
}

function markThread() {
  for (const row of at("list").querySelectorAll(".row")) row.setAttribute("aria-current", String(row.dataset.to === state.thread));
}

async function reload() {
  const round = ++state.round;
  state.waiting?.abort(); // it waits for what the filters chose before
  const found = await ask(query({}));
  if (round !== state.round) return; // the filters changed meanwhile
  state.rows = found.messages;
  state.last = found.last;
  at("older").hidden = found.messages.length < PAGE;
  drawList();
}

async function loadOlder() {
  const oldest = state.rows.at(-1);
  const found = await ask(query({ before: oldest.n }));
  const first = at("list").children.length;
  state.rows = [...state.rows, ...found.messages];
  at("older").hidden = found.messages.length < PAGE;
  at("list").append(...found.messages.map(rowOf));
  markThread();
  at("list").children[first]?.querySelector(".row").focus();
}

function addNew(found) {
  const missed = found.messages.length === PAGE; // more came than one answer holds: begin anew
  const fresh = found.messages.filter((message) => message.n > state.last); // a reload may have brought some already
  state.rows = missed ? found.messages : [...fresh, ...state.rows].slice(0, MOST);
  state.last = found.last;
  if (missed || state.rows.length === MOST) at("older").hidden = false;
  drawList();
  if (found.messages.some((message) => message.to === state.thread)) openThread(state.thread, false);
}

// -- the thread --------------------------------------------------------------------------------------------------------

function marked(text, forcing) {
  const odd = new Set(forcing);
  const found = [];
  let plain = "";
  for (const character of text) {
    if (!odd.has(character)) {
      plain += character;
      continue;
    }
    if (plain) found.push(plain);
    found.push(element("mark", { title: unicode(character) }, character));
    plain = "";
  }
  return plain ? [...found, plain] : found;
}

const unicode = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
// A control or direction character is named by its number alone: shown, it would turn the line around it.
const named = (one) => (/[\p{Cc}\p{Cf}]/u.test(one) ? unicode(one) : `${one} (${unicode(one)})`);

function bubbleOf(message) {
  const bubble = element("div", { class: "bubble", dir: "auto" });
  message.pieces.forEach((piece, index) => {
    const many = message.pieces.length > 1;
    if (many) bubble.append(element("small", { class: "piece-name" }, `Part ${index + 1} of ${message.pieces.length}`));
    bubble.append(element("span", many ? { class: "piece" } : {}, ...marked(piece, message.forcing)));
  });
  const lines = [`${clockTime(message.at)}, ${message.channel}, ${cost(message)}, ${message.currency} ${money(message.price)}`];
  if (message.pieces.length !== message.parts) lines.push(`billed ${counted(message.parts, "part")}, the text needs ${message.pieces.length}`);
  if (message.forcing.length) lines.push(`UCS-2 because of ${message.forcing.slice(0, 8).map(named).join(", ")}${message.forcing.length > 8 ? ` and ${message.forcing.length - 8} more` : ""}`);
  else lines.push(`${message.room} more characters fit before the next part`);
  if (message.intent) lines.push(`intent ${message.intent}`);
  if (message.templateId) lines.push(`template ${message.templateId}`);
  const under = lines.map((line) => element("p", { class: "under" }, line));
  return element("li", {}, bubble, ...(message.code ? [copyButton(message.code)] : []), ...under, deleteButton(message));
}

function deleteButton(message) {
  const forget = guarded(async () => {
    await ask(`inbox.json?${new URLSearchParams({ id: message.id })}`, "DELETE");
    await reload();
    await refreshSide();
    await openThread(message.to);
    say("The message is deleted");
  });
  return element("button", { type: "button", class: "plain delete", onclick: forget, "aria-label": `Delete the message of ${clockTime(message.at)}` }, "Delete");
}

async function openThread(to, focus = true) {
  const asked = new URLSearchParams({ to, newest: 1, limit: PAGE, detail: 1 });
  const found = await ask(`inbox.json?${asked}`);
  closeRequest();
  state.thread = to;
  at("thread").hidden = false;
  at("thread-title").textContent = to;
  const newest = found.messages[0];
  const total = found.messages.length === PAGE ? `the last ${PAGE} messages` : counted(found.messages.length, "message");
  at("thread-about").textContent = newest ? `${newest.country}, ${total}` : "no messages";
  at("bubbles").replaceChildren(...found.messages.reverse().map(bubbleOf));
  at("bubbles").scrollTop = at("bubbles").scrollHeight;
  markThread();
  if (focus) at("thread-title").focus({ preventScroll: false });
}

function closeThread() {
  const row = at("list").querySelector(`[data-to="${state.thread}"]`);
  state.thread = "";
  at("thread").hidden = true;
  markThread();
  (row || at("search")).focus();
}

const showOnly = guarded(async (event) => {
  state.to = event ? state.thread : "";
  at("chosen").hidden = !state.to;
  at("chosen-text").textContent = state.to ? `Only ${state.to}` : "";
  await reload();
  (state.to ? at("unchoose") : at("search")).focus();
});

// -- the side ----------------------------------------------------------------------------------------------------------

function drawSummary(found) {
  state.currency = found.currency;
  at("total").textContent = `${counted(found.messages, "message")}, ${found.currency} ${money(found.price)} spent.`;
  at("balance").textContent = `${found.currency} ${money(found.balance)}`;
  at("spend-currency").textContent = found.currency;
  const most = Math.max(...found.countries.map((row) => Number(row.price)), 0.000001);
  const shown = found.countries.slice(0, 8);
  const places = Math.max(2, ...shown.map((row) => placesOf(row.price)));
  at("spend").tBodies[0].replaceChildren(...shown.map((row) => {
    const bar = element("span", { class: "bar" });
    bar.style.width = `${(100 * Number(row.price)) / most}%`;
    return element("tr", {}, element("td", {}, row.country, bar), element("td", { class: "right" }, whole(row.messages)), element("td", { class: "right" }, money(row.price, places)));
  }));
  if (!shown.length) at("spend").tBodies[0].append(element("tr", {}, element("td", { colspan: 3, class: "soft" }, "Nothing yet.")));
  const rest = found.countries.length - shown.length;
  at("spend-rest").hidden = rest <= 0;
  at("spend-rest").textContent = rest > 0 ? `and ${counted(rest, "more country").replace("countrys", "countries")}` : "";
  drawWordings(found.wordings);
}

function drawWordings(wordings) {
  if (document.activeElement === at("wording")) return; // an open list must not change under the reader
  const chosen = at("wording").value;
  const options = wordings.map((row) => element("option", { value: row.shape }, `${short(row.text, 60)} (${whole(row.messages)})`));
  at("wording").replaceChildren(element("option", { value: "" }, "All"), ...options);
  at("wording").value = wordings.some((row) => String(row.shape) === chosen) ? chosen : "";
}

function drawFaults(found) {
  const told = JSON.stringify(found);
  if (told === state.faults) return; // drawing again would take the focus from a button
  state.faults = told;
  state.kinds = found.kinds;
  if (!at("fault-kind").options.length) {
    at("fault-kind").append(...found.kinds.map((row) => element("option", { value: row.kind }, row.kind.replaceAll("_", " "))));
    showMeaning();
  }
  const rows = found.faults.map((fault) => element(
    "li", {}, element("span", {}, faultText(fault)),
    element("button", { type: "button", "aria-label": `Switch off ${fault.kind}`, onclick: guarded(async () => drawFaults(await ask(`faults.json?kind=${fault.kind}`, "DELETE"))) }, "Off"),
  ));
  at("faults").replaceChildren(...(rows.length ? rows : [element("li", { class: "none" }, "None: every request is answered.")]));
}

function faultText(fault) {
  const uses = state.kinds.find((row) => row.kind === fault.kind)?.uses ?? [];
  const said = [fault.kind.replaceAll("_", " ")];
  if (fault.action) said.push(`only ${fault.action}`);
  if (fault.share < 1) said.push(`${Math.round(100 * fault.share)} %`);
  if (fault.next !== null) said.push(`next ${fault.next}`);
  for (const name of uses) if (fault[name]) said.push(name === "status" ? `status ${fault.status}` : `${fault[name]} s${name === "jitter" ? " jitter" : ""}`);
  return said.join(", ");
}

function showMeaning() {
  const kind = state.kinds.find((row) => row.kind === at("fault-kind").value);
  const accepted = { before: "Not accepted", after: "Accepted", around: "As usual" }[kind.when];
  at("fault-meaning").textContent = `${accepted}: ${kind.meaning}.`;
  at("fault-seconds-label").hidden = !kind.uses.includes("seconds");
  at("fault-status-label").hidden = !kind.uses.includes("status");
}

async function switchOn() {
  const fields = { kind: at("fault-kind").value, share: Number(at("fault-share").value) / 100 };
  if (at("fault-next").value) fields.next = Number(at("fault-next").value);
  if (!at("fault-seconds-label").hidden) fields.seconds = Number(at("fault-seconds").value);
  if (!at("fault-status-label").hidden && at("fault-status").value) fields.status = Number(at("fault-status").value);
  drawFaults(await ask("faults.json", "POST", fields));
  say(`${fields.kind} is on`);
}

function drawClock(found) {
  const away = Math.abs(found.ahead) < 1 ? "the machine’s time" : `${whole(Math.round(Math.abs(found.ahead)))} s ${found.ahead > 0 ? "ahead" : "behind"}`;
  at("clock").textContent = `${found.now.slice(0, 19).replace("T", " ")} UTC, ${away}`;
}

async function clear() {
  if (at("keep").hidden) {
    at("keep").hidden = false;
    at("clear").textContent = "Yes, clear all messages";
    at("clear").classList.add("danger");
    return;
  }
  await ask("inbox.json", "DELETE");
  keep();
  at("thread").hidden = true;
  state.thread = "";
  await reload();
  await refreshSide();
  say("The inbox is empty");
}

function keep() {
  at("keep").hidden = true;
  at("clear").textContent = "Clear the inbox";
  at("clear").classList.remove("danger");
}

async function refreshSide() {
  const [summary, faults, clock] = await Promise.all([ask("summary.json"), ask("faults.json"), ask("clock.json")]);
  drawSummary(summary);
  drawFaults(faults);
  drawClock(clock);
}

// -- life --------------------------------------------------------------------------------------------------------------

const sleep = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

async function live() {
  for (;;) {
    const round = state.round;
    try {
      if (!state.seen) await begin();
      showLive("on", "✓ Live");
      state.waiting = new AbortController();
      const found = await ask(query({ after: state.last, wait: WAIT }), "GET", undefined, state.waiting.signal);
      if (round === state.round && found.messages.length) addNew(found);
      await refreshSide();
      await sleep(PAUSE);
    } catch (error) {
      if (error.name === "AbortError") continue;
      state.seen = false;
      showLive("off", "✗ The sandbox does not answer; trying again");
      await sleep(1500);
    }
  }
}

async function begin() {
  const about = await ask("sandbox.json");
  const form = about.form === "earlier" ? ", earlier form" : "";
  at("about").textContent = `It texts nobody. ${about.variant === "cn" ? "Mainland-China" : "International"} variant${form}${about.hmac ? ", signed requests" : ""}.`;
  at("example").textContent = `curl '${location.origin}/?action=otp.send&accessKeyId=any' \\\n  -H 'Content-Type: application/json' \\\n  -d '{"to": "+12025550123"}'`;
  await Promise.all([reload(), reloadRequests(), refreshSide()]);
  state.seen = true;
}

function moveInList(event) {
  const rows = [...(at("requests").hidden ? at("list") : at("request-list")).querySelectorAll(".row")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const here = rows.indexOf(document.activeElement);
  if (!step || here < 0) return;
  event.preventDefault();
  rows[here + step]?.focus();
}

function onKey(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    at(at("requests").hidden ? "search" : "request-search").focus();
  } else if (event.key === "Escape" && !at("request").hidden) leaveRequest();
  else if (event.key === "Escape" && !at("thread").hidden) closeThread();
  else moveInList(event);
}

let typed;
at("search").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(guarded(reload), 200);
});
for (const id of ["kind", "wording"]) at(id).addEventListener("change", guarded(reload));
at("wording").addEventListener("blur", guarded(async () => drawSummary(await ask("summary.json"))));
at("filters").addEventListener("submit", guarded(reload));
at("older").addEventListener("click", guarded(loadOlder));
at("back").addEventListener("click", closeThread);
at("only").addEventListener("click", showOnly);
at("unchoose").addEventListener("click", () => showOnly());
at("fault-kind").addEventListener("change", showMeaning);
at("fault").addEventListener("submit", guarded(switchOn));
at("top-up").addEventListener("submit", guarded(async () => {
  await ask("balance.json", "POST", { add: at("amount").value });
  drawSummary(await ask("summary.json"));
  say(`The balance is ${at("balance").textContent}`);
}));
at("forward").addEventListener("click", guarded(async () => drawClock(await ask("clock.json", "POST", { advance: 300 }))));
at("reset").addEventListener("click", guarded(async () => drawClock(await ask("clock.json", "POST", { reset: true }))));
at("clear").addEventListener("click", guarded(clear));
at("keep").addEventListener("click", keep);
document.addEventListener("keydown", onKey);
