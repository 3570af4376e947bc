"use strict";
// Theme first, before anything is painted.
const root = document.documentElement;
let remembered = null;
try { remembered = localStorage.getItem("uniclaw-theme"); } catch { /* storage is off */ }
if (remembered === "dark" || remembered === "light") root.dataset.theme = remembered;

function toggleTheme() {
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("uniclaw-theme", root.dataset.theme); } catch { /* storage is off */ }
}

const rows = () => [...document.querySelectorAll("[data-rows] tbody tr, [data-row]")];
let current = -1;

function move(by) {
  const all = rows();
  if (!all.length) return;
  current = Math.min(Math.max(current + by, 0), all.length - 1);
  all.forEach((row, at) => row.classList.toggle("current", at === current));
  all[current].scrollIntoView({ block: all[current].tagName === "TR" ? "nearest" : "start" });
  const link = all[current].querySelector("th a, td a, h2 a");
  if (link && all[current].tagName === "TR") link.focus({ preventScroll: true });
}

function openRow() {
  const link = rows()[current]?.querySelector("th a, td a");
  if (link) link.click();
}

function unfold() {
  const all = [...document.querySelectorAll("details")];
  const open = all.some((one) => !one.open);
  all.forEach((one) => { one.open = open; });
}

function reveal() {
  let target = null;
  try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  target.scrollIntoView({ block: "start" });
}

function help() {
  const dialog = document.querySelector("dialog.keys");
  if (dialog.open) dialog.close(); else dialog.showModal();
}

const KEYS = {
  j: () => move(1), k: () => move(-1), e: unfold, t: toggleTheme, "?": help,
  Enter: () => { if (current >= 0) openRow(); },
  "/": () => document.querySelector("input[type=search]")?.focus(),
  "[": () => document.querySelector("[data-sibling=before]")?.click(),
  "]": () => document.querySelector("[data-sibling=after]")?.click(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = event.target;
  if (at.closest("input, select, textarea")) {
    if (event.key === "Escape") at.blur();
    return;
  }
  if (event.key === "Enter" && at.closest("a, button, summary")) return;
  if (document.querySelector("dialog.keys").open && event.key !== "?") return;
  const lens = /^[1-5]$/.test(event.key) && document.querySelector(`[data-lens="${event.key}"]`);
  if (lens) { lens.click(); return; }
  const act = KEYS[event.key];
  if (act) { event.preventDefault(); act(); }
}

function put(within, values) {
  for (const [name, value] of Object.entries(values)) {
    for (const field of within.querySelectorAll(`[data-field="${name}"]`)) {
      if (Array.isArray(value)) { field.value = value[0]; field.max = Math.max(1, value[1]); }
      else if (name !== "phase") field.textContent = value;
    }
  }
}

function live(address) {
  let version = null;
  const pause = document.body.dataset.liveReload === "computing" ? 400 : 2000;
  let wait = pause;
  const again = () => setTimeout(poll, wait);
  async function poll() {
    if (document.hidden) { again(); return; }
    let data;
    try { data = await (await fetch(address, { headers: { accept: "application/json" } })).json(); }
    catch { wait = Math.min(wait * 2, 60000); again(); return; }
    wait = pause;
    if (data.runs) {
      for (const [name, values] of Object.entries(data.runs))
        for (const row of document.querySelectorAll("[data-run]"))
          if (row.dataset.run === name) put(row, values);
    } else put(document, data);
    const seen = version ?? (document.body.dataset.liveReload === "computing" ? "computing" : null);
    const changed = seen !== null && seen !== data.version;
    version = data.version;
    // An open episode is drawn anew when a step of it is done, unless something is unfolded.
    if (changed && document.body.dataset.liveReload) { location.reload(); return; }
    if (data.open !== false) again();
  }
  poll();
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelector("[data-theme-toggle]").addEventListener("click", toggleTheme);
  document.querySelector("[data-help]").addEventListener("click", help);
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  if (document.body.dataset.live) live(document.body.dataset.live);
});
