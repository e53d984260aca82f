// All pages work without this: it opens turns in place, loads what is slow to make, follows what is new, and hears keys.
"use strict";
const $ = (css, from = document) => from.querySelector(css), $$ = (css, from = document) => [...from.querySelectorAll(css)];
const part = async address => {
  const response = await fetch(address, { headers: { "x-part": "1", accept: "text/html" } });
  return response.text();
};
const put = (into, text) => into.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);

document.addEventListener("click", async event => {
  const link = event.target.closest("a[data-turn]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const row = link.closest("tr");
  const asked = new URL(link.href), turn = row.id || row.previousElementSibling.id;
  const from = `${asked.pathname.replace(/session$/, "turn")}?name=${encodeURIComponent(asked.searchParams.get("name"))}&open=${turn.slice(1)}`;
  if (link.classList.contains("more")) return put(link.closest("td"), await part(`${from}&all=1`));
  const below = row.nextElementSibling;
  if (below && below.matches(".open.turn")) {
    below.remove(); row.classList.remove("on"); link.setAttribute("aria-expanded", "false");
    history.replaceState(null, "", address(null, link));
    return;
  }
  const text = await part(from);
  const made = document.createElement("tr"), cell = document.createElement("td");
  made.className = "open turn"; cell.colSpan = 6; made.append(cell); put(cell, text);
  row.after(made); row.classList.add("on"); link.setAttribute("aria-expanded", "true");
  history.replaceState(null, "", address(row.id.slice(1), link));
});
const address = (turn, link) => {
  const at = new URL(location.href);
  const open = $$("tr.open.turn").map(row => row.previousElementSibling.id.slice(1)).slice(-5).join(",");
  open ? at.searchParams.set("open", open) : at.searchParams.delete("open");
  at.hash = link.closest("tr").id;
  return at.href;
};

// a pointer: what it leads to is shown where one points at it, and opens below it where one clicks
const sources = new Map();
const source = link => {
  const at = link.getAttribute("href").replace("/event?", "/source?");
  if (!sources.has(at)) sources.set(at, part(at));
  return sources.get(at);
};
const pointerOf = event => event.target.closest?.("a.p[href*='/event?pointer=']");
const peek = Object.assign(document.createElement("div"), { id: "peek", role: "tooltip", hidden: true });
document.body.append(peek);
let wait;
const hush = () => { clearTimeout(wait); peek.hidden = true; };
const look = event => {
  const link = pointerOf(event);
  hush();
  if (link && link.getAttribute("aria-expanded") !== "true") wait = setTimeout(async () => {
    put(peek, await source(link));
    const box = link.getBoundingClientRect();
    peek.hidden = false; link.setAttribute("aria-describedby", "peek");
    peek.style.left = `${Math.max(8, Math.min(box.left, innerWidth - peek.offsetWidth - 8)) + scrollX}px`;
    peek.style.top = `${(box.bottom + peek.offsetHeight + 8 > innerHeight ? box.top - peek.offsetHeight - 4 : box.bottom + 4) + scrollY}px`;
  }, 250);
};
for (const name of ["mouseover", "focusin"]) document.addEventListener(name, look);
document.addEventListener("keydown", event => event.key === "Escape" && hush());
document.addEventListener("click", async event => {
  const link = pointerOf(event);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault(); hush();
  const open = link.getAttribute("aria-expanded") === "true";
  link.setAttribute("aria-expanded", String(!open));
  if (open) return link.opened?.remove();
  const place = link.closest(".head,summary,td") || link, box = document.createElement("div");
  box.className = "source"; put(box, await source(link));
  if (place.tagName === "TD") {
    const row = document.createElement("tr"), cell = document.createElement("td");
    cell.colSpan = 99; row.className = "open"; cell.append(box); row.append(cell); place.parentElement.after(row); link.opened = row;
  } else { (place.tagName === "SUMMARY" ? place.parentElement : place).after(box); link.opened = box; }
});

(async () => {
  for (const place of [...$$("#sent"), ...$$("[data-load]:not(#sent)")]) { // what the second needs, the first has made
    put(place, await part(place.dataset.load));
    const bar = $("svg.bar", place);
    if (bar) $("main > svg.bar").replaceWith(bar);
  }
})();

for (const form of $$("form[data-typed]")) {
  let timer;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const asked = new URLSearchParams(new FormData(form)), to = `${form.getAttribute("action")}?${asked}`;
      const page = new DOMParser().parseFromString(await part(to), "text/html");
      $("#part").replaceWith($("#part", page)); history.replaceState(null, "", to);
    }, 200);
  });
}

// keys
let at = -1;
const rows = () => $$("[data-row]");
const go = row => { if (row) { at = rows().indexOf(row); row.scrollIntoView({ block: "nearest" }); (row.querySelector("a,summary") || row).focus(); } };
const jump = (list, back) => {
  const here = at < 0 ? -1 : rows()[at].getBoundingClientRect().top;
  const tops = list.map(row => [row.getBoundingClientRect().top, row]);
  return back ? tops.filter(([top]) => top < here - 1).pop()?.[1] : tops.find(([top]) => top > here + 1)?.[1];
};
const KEYS = {
  j: ["next row", () => go(rows()[Math.min(at + 1, rows().length - 1)])],
  k: ["row before", () => go(rows()[Math.max(at - 1, 0)])],
  e: ["next failure", () => go(jump($$("[data-failed]")))],
  c: ["next compaction", () => jump($$("tr.compact"))?.scrollIntoView()],
  "[": ["turn, call or page before", () => $("a[rel=prev]") ? $("a[rel=prev]").click() : go(jump($$("tr[id^=t]"), true))],
  "]": ["turn, call or page after", () => $("a[rel=next]") ? $("a[rel=next]").click() : go(jump($$("tr[id^=t]")))],
  o: ["open the source", () => { const link = document.activeElement?.closest("[data-row],li")?.querySelector("a.p") || document.activeElement?.closest("[data-pointer]"); if (link) location.href = link.classList.contains("p") ? link.href : `${$("header form").getAttribute("action").replace("recall", "event")}?pointer=${link.dataset.pointer}`; }],
  y: ["copy the pointer", () => { const link = document.activeElement?.closest("[data-row],li")?.querySelector("[data-pointer]"); if (link) navigator.clipboard?.writeText(link.dataset.pointer); }],
  f: ["show what is new", () => location.reload()],
  "/": ["recall", () => $("header input").focus()],
  "?": ["this list", () => help()],
};
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input,textarea,select") || !KEYS[event.key]) return;
  event.preventDefault(); KEYS[event.key][1]();
});
const help = () => {
  const box = document.createElement("dialog"), list = document.createElement("dl");
  for (const [key, [what]] of [...Object.entries(KEYS), ["Enter", ["open the row"]]]) {
    const name = document.createElement("dt"), says = document.createElement("dd");
    name.textContent = key; says.textContent = what; list.append(name, says);
  }
  box.append(list); document.body.append(box); box.addEventListener("close", () => box.remove()); box.showModal();
};
$(".keys").hidden = false;

// what is new: a count at the end; what is being read never moves
const body = document.body;
if (body.dataset.live && window.EventSource) {
  const source = new EventSource(body.dataset.live);
  source.addEventListener("position", event => {
    const more = Number(event.data) - Number(body.dataset.through);
    if (more > 0) { $("#new").hidden = false; $("#new").textContent = `${more} new event${more > 1 ? "s" : ""}: f shows them`; }
  });
}
