// Keeps parts of a page current: every element with data-live="SECONDS" and an id is replaced by the one of the same id
// of the page as the server gives it now. Without scripts the page is simply reloaded by hand.
"use strict";

const parts = document.querySelectorAll("[data-live][id]");
const least = Math.min(...[...parts].map((part) => Number(part.dataset.live) || 10));

async function refresh() {
  if (document.hidden) return;
  let answer;
  try {
    answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
  } catch (error) {
    document.body.classList.add("stale"); // the server is gone, or wants a login: the page says so
    return;
  }
  document.body.classList.toggle("stale", !answer.ok);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live][id]")) {
    const other = fresh.getElementById(part.id);
    if (other && !part.contains(document.activeElement)) part.replaceWith(document.adoptNode(other));
  }
}

if (parts.length) setInterval(refresh, least * 1000);

// Marks all rows of a form at once.
document.addEventListener("change", (event) => {
  const all = event.target.closest("input[data-all]");
  if (!all) return;
  for (const box of all.form.querySelectorAll(`input[name="${all.dataset.all}"]`)) box.checked = all.checked;
});
