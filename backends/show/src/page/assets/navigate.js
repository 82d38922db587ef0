// Finding a place again: folded sections, search, the address, keys.

// Unfolds what holds an element, shows it and marks it for a moment.
function reveal(element) {
  for (let at = element; at; at = at.parentElement?.closest("details")) if (at.tagName === "DETAILS") at.open = true;
  element.querySelector(":scope > details")?.setAttribute("open", "");
  element.scrollIntoView({ block: element.tagName === "SECTION" ? "start" : "center" });
  element.classList.add("shown");
  setTimeout(() => element.classList.remove("shown"), 2500);
}

const rowsOf = section => [...section.querySelectorAll("tbody tr")];

// The row of the source lines about `file.c:13`.
function lineOf(place) {
  const [, name, line] = /([^/ ]+):(\d+)$/.exec(place ?? "") ?? [];
  const source = $("source");
  if (!name || !source) return null;
  const title = [...source.querySelectorAll("h3")].find(h => h.textContent === name || h.textContent.endsWith(`/${name}`));
  return title ? rowsOf(source).filter(row => title.compareDocumentPosition(row) & 4).find(row => row.cells[0].textContent === line) ?? null : null;
}

// Goes to a place of the program: its source line or, where there is none, a table that names it.
function goTo(place) {
  const row = place ? lineOf(place) ?? rowsOf(document).find(row => row.textContent.includes(place)) : null;
  if (row) reveal(row);
}

const MOST_FOUND = 12;

// Rows of all tables that have the words.
function searchTables() {
  const list = $("found");
  const look = () => {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = words.length === 0 ? [] : [...document.querySelectorAll("main section[id] tbody tr")];
    const found = all.filter(row => { const text = row.textContent.toLowerCase(); return words.every(word => text.includes(word)); });
    const entry = row => {
      const text = [...row.cells].map(cell => cell.textContent.trim()).filter(Boolean).join(" · ");
      return html("li", null, html("button", { type: "button", onclick: () => { close(); reveal(row); } },
        html("b", null, row.closest("section").querySelector("h2").textContent), " ", clipEnd(text, 140)));
    };
    const rest = found.length > MOST_FOUND ? [html("li", { class: "quiet" }, `and ${found.length - MOST_FOUND} more rows`)] : [];
    const none = words.length > 0 && found.length === 0 ? [html("li", { class: "quiet" }, "No table has this.")] : [];
    list.replaceChildren(...found.slice(0, MOST_FOUND).map(entry), ...rest, ...none);
  };
  const close = () => { $("search").value = ""; list.replaceChildren(); };
  $("search").addEventListener("input", look);
  $("search").addEventListener("keydown", event => {
    if (event.key === "Enter") list.querySelector("button")?.click();
    else if (event.key === "ArrowDown") list.querySelector("button")?.focus();
    else if (event.key === "Escape") { close(); $("search").blur(); }
    else return;
    event.preventDefault();
  });
  list.addEventListener("keydown", event => {
    const all = [...list.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement) + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0);
    if (event.key === "Escape") { close(); $("search").focus(); }
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") (all[at] ?? $("search")).focus();
    else return;
    event.preventDefault();
  });
  addEventListener("keydown", event => {
    if (event.key !== "/" || event.target.matches?.("input")) return;
    event.preventDefault();
    $("search").focus();
  });
}

function clipEnd(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

// Goes where the address says, now and whenever it changes. The zoom of the lanes is a part of it.
function followAddress(lanes) {
  const follow = () => {
    for (const word of address()) {
      const [, from, to] = /^lanes=(\d+)-(\d+)$/.exec(word) ?? [];
      if (to && lanes) lanes.show([Number(from), Number(to)]);
      else if (word && $(word)) reveal($(word));
    }
  };
  addEventListener("hashchange", follow);
  follow();
}

function keepZoom(range) {
  history.replaceState(null, "", range ? `#lanes=${range.map(Math.round).join("-")}` : location.href.split("#")[0]);
}
