"use strict";

const KEPT = 200; // messages and requests on the page
const EVERY = 1000; // milliseconds
const KINDS = {
  latency: ["seconds", "the reply comes late"],
  drop_before: ["", "the connection is reset, nothing was accepted"],
  drop_after: ["seconds", "the request is accepted, then the connection is reset without a reply"],
  half: ["", "the request is accepted, and the reply breaks off in the middle"],
  html: ["", "the request is accepted, and the reply is a page of HTML"],
  fewer: ["", "the request is accepted, and the last record is missing"],
  shuffled: ["", "the request is accepted, and the records come in another order"],
  throttle: ["seconds", "429 with Retry-After, nothing was accepted"],
  error_before: ["status", "an error although nothing was accepted"],
  error_after: ["status", "an error although the request was accepted"],
};

const at = (id) => document.getElementById(id);
const state = { token: location.hash.slice(1) || sessionStorage.getItem("token") || "", id: "", messages: [], requests: [], count: 0 };

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

async function ask(path, action) {
  const headers = { "Content-Type": "application/json" };
  if (state.token) headers.Authorization = `Bearer ${state.token}`;
  const reply = await fetch(path, action ? { method: "POST", headers, body: JSON.stringify(action) } : { headers });
  const answer = await reply.json();
  if (reply.status === 401) at("sign-in").hidden = false;
  if (!reply.ok) throw new Error(answer.error);
  return answer;
}

function say(words, isGood = true) {
  at("live").textContent = words;
  at("live").className = isGood ? "" : "off";
}

const time = (moment) => moment.slice(11, 19);

function messageRow(message) {
  const foot = `${message.parts} ${message.parts === 1 ? "part" : "parts"}, ${message.currency} ${message.price}, ${message.channel}, ${time(message.at)} UTC`;
  const row = element("li", {}, element("span", { class: "number" }, `${message.to} (${message.iso})`), element("span", { class: "text", dir: "auto" }, message.text));
  if (message.code) {
    const copy = element("button", { type: "button", "aria-label": `Copy the code ${message.code}` }, "Copy");
    copy.addEventListener("click", () => navigator.clipboard.writeText(message.code).then(() => { copy.textContent = "Copied"; }));
    row.append(element("span", { class: "buttons" }, element("span", { class: "code" }, message.code), copy));
  }
  row.append(element("span", { class: "soft" }, foot));
  return row;
}

function requestRow(request) {
  const isGood = ["accepted", "answered"].includes(request.outcome);
  const why = request.outcome === "struck" ? ` by ${request.fault}` : request.outcome === "refused" ? ` ${request.code ?? ""}` : "";
  const sent = `${request.method} ${request.path}\n${request.headers.map((pair) => pair.join(": ")).join("\n")}\n\n${request.body}`;
  const reply = request.status ? `${request.status}\n\n${request.reply}` : "Nothing was answered.";
  const to = request.to.length > 1 ? `${request.to[0]} and ${request.to.length - 1} more` : request.to[0] ?? "";
  return element(
    "details",
    {},
    element("summary", {}, `${time(request.at)} ${request.action || "no action"} ${to} `, element("span", { class: isGood ? "good" : "bad" }, `${isGood ? "✓" : "✗"} ${request.outcome}${why}`)),
    element("pre", {}, sent),
    element("pre", {}, reply),
  );
}

function drawMessages() {
  const wanted = at("search").value.trim().toLowerCase();
  const shown = state.messages.filter((message) => `${message.to} ${message.text}`.toLowerCase().includes(wanted));
  at("messages").replaceChildren(...shown.map(messageRow));
  at("none").hidden = shown.length > 0;
  at("none").textContent = wanted ? "No message fits." : "No messages yet. Every message that is accepted appears here.";
}

function drawFaults(faults) {
  const rows = faults.map((fault) => element("li", {}, fault.text, element("button", { type: "button", "aria-label": `Switch off ${fault.kind}`, onclick: () => act({ do: "clear_faults", kind: fault.kind }) }, "Off")));
  const text = faults.map((fault) => fault.text).join();
  if (at("faults").dataset.drawn === text) return; // a button that has the focus stays
  at("faults").dataset.drawn = text;
  at("faults").replaceChildren(...(rows.length ? rows : [element("li", { class: "soft" }, "None")]));
}

function drawReport(report) {
  const form = report.form === "earlier" ? ", earlier form" : "";
  const variant = report.variant === "cn" ? "Mainland-China" : "International";
  at("about").textContent = `${report.messages.toLocaleString("en")} ${report.messages === 1 ? "message" : "messages"}. Nobody is texted. ${variant} variant${form}.`;
  at("balance").textContent = `${report.currency} ${report.balance}`;
  const away = Math.round(report.ahead);
  at("clock").textContent = `${report.now.slice(0, 19).replace("T", " ")} UTC, ${away ? `${Math.abs(away)} s ${away > 0 ? "ahead" : "behind"}` : "the machine’s time"}`;
  drawFaults(report.faults);
}

async function refresh() {
  const newest = (rows) => rows[0]?.n ?? 0;
  const path = (messages, requests) => `state.json?messages_after=${messages}&requests_after=${requests}&limit=${KEPT}`;
  let report = await ask(path(newest(state.messages), newest(state.requests)));
  const isSame = report.id === state.id && report.last_request >= newest(state.requests) && report.messages >= state.count;
  if (!isSame) { // it was cleared, or another sandbox has the address now
    state.messages = [];
    state.requests = [];
    report = await ask(path(0, 0));
  }
  state.id = report.id;
  state.count = report.messages;
  const added = (rows, before) => rows.filter((row) => row.n > newest(before)).reverse(); // another refresh may have been first
  const [messages, requests] = [added(report.inbox, state.messages), added(report.requests, state.requests)];
  state.messages = [...messages, ...state.messages].slice(0, KEPT);
  state.requests = [...requests, ...state.requests].slice(0, KEPT);
  if (messages.length || !isSame) drawMessages();
  if (!isSame) at("requests").replaceChildren();
  at("requests").prepend(...requests.map(requestRow)); // an open one stays open
  while (at("requests").children.length > KEPT) at("requests").lastChild.remove();
  drawReport(report);
  at("sign-in").hidden = true;
  at("main").hidden = false;
  say("✓ Live");
}

async function act(action) {
  try {
    drawReport(await ask("act.json", action));
    await refresh();
  } catch (error) {
    say(`✗ ${error.message}`, false);
  }
}

async function live() {
  for (;;) {
    await refresh().catch((error) => say(at("sign-in").hidden ? `✗ ${error.message}; trying again` : "Waiting for the token", false));
    await new Promise((done) => { setTimeout(done, EVERY); });
  }
}

function showKind() {
  const [option, meaning] = KINDS[at("kind").value];
  at("meaning").textContent = meaning;
  at("seconds-label").hidden = option !== "seconds";
  at("status-label").hidden = option !== "status";
}

function onSubmit(id, then) {
  at(id).addEventListener("submit", (event) => {
    event.preventDefault();
    then();
  });
}

at("kind").replaceChildren(...Object.keys(KINDS).map((kind) => element("option", {}, kind)));
at("kind").addEventListener("change", showKind);
at("search").addEventListener("input", drawMessages);
at("forward").addEventListener("click", () => act({ do: "advance", seconds: 300 }));
at("reset").addEventListener("click", () => act({ do: "reset_clock" }));
at("clear").addEventListener("click", () => window.confirm("Delete all messages and requests?") && act({ do: "clear" }));
onSubmit("top-up", () => act({ do: "top_up", amount: at("amount").value }));
onSubmit("sign-in", () => {
  state.token = at("token").value.trim();
  sessionStorage.setItem("token", state.token);
  refresh().catch((error) => say(`✗ ${error.message}`, false));
});
onSubmit("fault", () => {
  const fault = { do: "fault", kind: at("kind").value, share: Number(at("share").value) / 100 };
  if (at("next").value) fault.next = Number(at("next").value);
  if (!at("seconds-label").hidden) fault.seconds = Number(at("seconds").value);
  if (!at("status-label").hidden && at("status").value) fault.status = Number(at("status").value);
  act(fault);
});
showKind();
live();
