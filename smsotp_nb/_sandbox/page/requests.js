"use strict";

// The tab of the journal: requests as they were received, and what was answered. It shares what inbox.js defines.

const SIGNS = { accepted: "✓", answered: "✓", refused: "✗", struck: "!" };
const journal = { rows: [], last: 0, chosen: 0, round: 0, waiting: null };

const isShown = () => !at("requests").hidden;

function requestQuery(more) {
  const chosen = { outcome: at("outcome").value, text: at("request-search").value.trim() };
  const given = Object.entries(chosen).filter(([, value]) => value);
  return `requests.json?${new URLSearchParams([...given, ...Object.entries({ brief: 1, newest: 1, limit: PAGE, ...more })])}`;
}

function outcomeOf(request) {
  const said = request.outcome === "struck" ? `struck by ${request.fault.split(",").at(-1).replaceAll("_", " ")}` : request.outcome;
  const code = request.outcome === "refused" ? ` ${request.code}` : "";
  const good = ["accepted", "answered"].includes(request.outcome);
  return element("span", { class: `outcome ${good ? "good" : "bad"}` }, `${SIGNS[request.outcome]} ${said}${code}`);
}

function requestRow(request) {
  const to = request.to.length > 1 ? `${request.to[0]} and ${whole(request.to.length - 1)} more` : request.to[0] ?? "no number";
  const row = element(
    "button",
    { type: "button", class: "row", "data-n": request.n, onclick: guarded(() => openRequest(request.n)) },
    element("span", { class: "number" }, request.action || "no action"),
    element("time", { class: "when", datetime: request.at, title: request.at }, clockTime(request.at)),
    element("span", { class: "said", dir: "auto" }, to),
    element("span", { class: "cost" }, request.status ? `status ${request.status}` : "no answer"),
    outcomeOf(request),
  );
  return element("li", {}, row);
}

function drawRequests() {
  const focused = document.activeElement?.dataset?.n;
  at("request-list").replaceChildren(...journal.rows.map(requestRow));
  if (focused) at("request-list").querySelector(`[data-n="${focused}"]`)?.focus();
  at("request-empty").hidden = journal.rows.length > 0;
  markRequest();
}

function markRequest() {
  for (const row of at("request-list").querySelectorAll(".row")) row.setAttribute("aria-current", String(Number(row.dataset.n) === journal.chosen));
}

async function reloadRequests() {
  const round = ++journal.round;
  journal.waiting?.abort();
  const found = await ask(requestQuery({}));
  if (round !== journal.round) return; // the filters changed meanwhile
  journal.rows = found.requests;
  journal.last = found.last;
  drawRequests();
}

const asText = (text, encoding) => (encoding === "base64" ? `(base64) ${text}` : text);

function told(request) {
  const headers = request.headers.map(([name, value]) => `${name}: ${value}`).join("\n");
  const cut = (size, text) => (size > 65536 ? `\n… ${whole(size)} bytes in all` : text);
  const reply = request.status
    ? `${request.status}\n\n${asText(request.reply, request.reply_encoding)}${cut(request.reply_size, "")}`
    : "Nothing was answered.";
  const kind = (request.fault ?? "").split(",").at(-1);
  const struck = state.kinds.find((one) => one.kind === kind);
  return {
    sent: `${request.method} ${request.path}\n${headers}\n\n${asText(request.body, request.encoding)}${cut(request.size, "")}`,
    reply: struck ? `${reply}\n\nStruck by ${kind}: ${struck.meaning}.` : reply,
  };
}

async function openRequest(n) {
  const found = await ask(`requests.json?${new URLSearchParams({ after: n - 1, before: n + 1 })}`);
  const [request] = found.requests;
  if (!request) throw new Error("This request is no longer in the journal");
  journal.chosen = n;
  journal.open = request;
  at("thread").hidden = true;
  state.thread = "";
  at("request").hidden = false;
  at("request-title").textContent = request.action || "no action";
  at("request-about").textContent = `${clockTime(request.at)}, ${request.outcome}${request.code && request.code !== "0" ? ` ${request.code}` : ""}, ${counted(request.accepted, "message")} accepted`;
  const { sent, reply } = told(request);
  at("request-sent").textContent = sent;
  at("request-reply").textContent = reply;
  at("request-raw").scrollTop = 0;
  markThread();
  markRequest();
  at("request-title").focus({ preventScroll: false });
}

function closeRequest() {
  journal.chosen = 0;
  at("request").hidden = true;
  markRequest();
}

function leaveRequest() {
  const row = at("request-list").querySelector(`[data-n="${journal.chosen}"]`);
  closeRequest();
  (row || at("request-search")).focus();
}

function show(tab) {
  for (const name of ["messages", "requests"]) {
    at(name).hidden = name !== tab;
    at(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
    at(`tab-${name}`).tabIndex = name === tab ? 0 : -1;
  }
  if (isShown()) reloadRequests().catch((error) => showLive("off", error.message));
}

function turn(event) {
  if (!["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
  event.preventDefault();
  const tab = event.key === "Home" || (event.key !== "End" && isShown()) ? "messages" : "requests";
  show(tab);
  at(`tab-${tab}`).focus();
}

async function liveRequests() {
  for (;;) {
    if (!isShown() || !state.seen) {
      await sleep(PAUSE);
      continue;
    }
    const round = journal.round;
    journal.waiting = new AbortController();
    try {
      const found = await ask(requestQuery({ after: journal.last, wait: WAIT }), "GET", undefined, journal.waiting.signal);
      if (found.last < journal.last) {
        await reloadRequests(); // another sandbox has the address now
      } else if (round === journal.round && found.requests.length) {
        journal.rows = [...found.requests, ...journal.rows].slice(0, MOST);
        journal.last = found.last;
        drawRequests();
      }
    } catch {
      await sleep(PAUSE); // the list of messages says when the sandbox does not answer
    }
    await sleep(PAUSE);
  }
}

// The clock is drawn every second, so that a test that moves it is seen at once.
async function liveClock() {
  for (;;) {
    await sleep(1000);
    if (state.seen && !document.hidden) await ask("clock.json").then(drawClock, () => {});
  }
}

let typedRequest;
at("request-search").addEventListener("input", () => {
  clearTimeout(typedRequest);
  typedRequest = setTimeout(guarded(reloadRequests), 200);
});
at("request-filters").addEventListener("submit", guarded(reloadRequests));
at("outcome").addEventListener("change", guarded(reloadRequests));
at("request-back").addEventListener("click", leaveRequest);
at("request-download").addEventListener("click", () => save(`request-${journal.open.n}.json`, journal.open));
at("download").addEventListener("click", guarded(async () => {
  const name = isShown() ? "requests.json" : "inbox.json";
  save(name, await ask(name));
}));
for (const name of ["messages", "requests"]) at(`tab-${name}`).addEventListener("click", () => show(name));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => event.target.matches("[role=tab]") && turn(event));
live();
liveRequests();
liveClock();
