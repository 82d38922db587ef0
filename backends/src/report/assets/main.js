// Fills the page from its data.

// The sections where a finding is shown in full; the others are in the account.
const SHOWN_IN = { cache: "misses", sharing: "sharing", allocation: "memuse", races: "races", spawns: "workspan", bottleneck: "workspan", unrecorded: "parallelism" };

// All processor time as one bar; returns the colours of its parts.
function drawDivision(target) {
  const parts = data.sections.find(section => section.id === "account")?.parts ?? [];
  const chart = parts.find(part => part.chart?.form === "stacks")?.chart;
  const shown = (chart?.parts ?? []).filter(part => part.values[0] > 0);
  if (shown.length === 0) return {};
  const words = part => `${part.name} ${format.percent(part.values[0])}`;
  const whole = html("div", { class: "whole", role: "img", "aria-label": `Processor time: ${shown.map(words).join(", ")}` },
    shown.map(part => html("i", { title: words(part), style: `width: ${(part.values[0] * 100).toFixed(2)}%; background: var(--${part.color})` })));
  target.replaceChildren(whole, html("ul", { class: "key-list" }, shown.map(part => html("li", null, swatch(part.color), words(part)))),
    html("p", { class: "quiet" }, "Percentages here are of all processor time: the processors that the program could use, times the length of the run. Of races they are of the accesses, of spawns and bottlenecks of the longest path."));
  return Object.fromEntries(shown.map(part => [part.name, part.color]));
}

// A link to the line of the source, which is looked for when it is followed, because tables can be sorted.
function lineOf(place) {
  const [, name, line] = /^([^ ]*):(\d+)$/.exec(place.split(/[ (]/).find(word => /:\d+\)?$/.test(word))?.replace(")", "") ?? "") ?? [];
  const find = () => {
    const title = [...document.querySelectorAll("#source h3")].find(h => h.textContent === name || h.textContent.endsWith(`/${name}`));
    return [...title?.nextElementSibling?.parentElement.querySelectorAll("tr") ?? []].filter(tr => title.compareDocumentPosition(tr) & 4).find(tr => tr.cells[0].textContent === line);
  };
  const inside = name && data.sections.some(s => s.id === "source" && s.parts.some(p => p.part === "heading" && (p.text === name || p.text.endsWith(`/${name}`))));
  return inside ? html("a", { href: "#source", onclick: event => { const row = find(); if (row) { event.preventDefault(); row.scrollIntoView({ block: "center" }); row.animate([{ background: "var(--accent)" }, {}], 2000); } } }, "Source lines") : null;
}

// The contexts over time, below the account.
function fillLanes(p, contexts) {
  const drawn = p.lanes.rows.length;
  $("lanes-title").textContent = p.lanes.title;
  const lanes = drawActivity($("lanes"), p.lanes);
  $("lanes-note").textContent = !lanes ? "" : "A row for each context: blue while it runs, another colour for what it waits for."
    + " The line through the rows is the critical path, the longest chain of work that depends on each other."
    + (contexts - p.others > drawn ? " Contexts that do not overlap share a row: “3 +12” is context 3 and 12 more." : "")
    + (p.others > 0 ? ` The ${format.count(p.others)} contexts that lived shortest are not drawn.` : "");
  return lanes;
}

// Marks where in the run a finding's time was lost, and shows the part that has nine tenths of it.
function showLost(lanes, finding, color, end) {
  const { when } = finding;
  const wide = end / when.length;
  const all = when.reduce((sum, share) => sum + share, 0);
  let [a, b, left] = [0, when.length, all];
  while (b - a > 1) {
    const least = Math.min(when[a], when[b - 1]);
    if (left - least < all * 0.9) break;
    left -= least;
    if (when[a] <= when[b - 1]) a += 1; else b -= 1;
  }
  lanes.spec.marks = { color, shares: when, wide };
  lanes.show([Math.max(0, a - 1) * wide, Math.min(when.length, b + 1) * wide]);
  $("lanes-title").scrollIntoView({ block: "nearest" });
  $("lanes-lost").textContent = `The strip above the rows: what was lost to ${finding.cause}, as a share of all processor time at that moment.`;
}

// A finding leads to the section that shows it, by its heading.
function linkFindings() {
  for (const link of document.querySelectorAll("#findings .more")) {
    const title = $(link.dataset.to)?.querySelector("h2");
    if (!title) link.remove();
    else { link.href = `#${link.dataset.to}`; link.textContent = title.textContent; }
  }
}

function fillHead({ run, stats, parallelism, findings, warnings, headline }) {
  const lanes = fillLanes(parallelism, stats.contexts);
  $("command").textContent = run.command.join(" ") || "unnamed program";
  const when = run.start_unix_ns ? new Date(run.start_unix_ns / 1e6).toISOString().slice(0, 19).replace("T", " ") + " UTC" : "";
  $("recorded").textContent = [run.host, when].filter(Boolean).join(" · ");
  $("warnings").replaceChildren(...warnings.map(text => html("p", null, text)));
  // What follows is of a part of the run only, which must be known before.
  if (!run.complete) $("headline").before($("warnings"));
  $("headline").textContent = format.words(headline);
  const division = drawDivision($("division"));
  const lostAt = f => {
    if (!lanes || !f.when?.some(share => share > 0)) return null;
    return html("button", { type: "button", class: "when", onclick: () => showLost(lanes, f, colors[f.cause] ?? "other", parallelism.duration_ns) }, "On the timeline");
  };
  const colors = { unrecorded: "call", bottleneck: "serial", spawns: "running", races: "lock", ...division };
  $("findings").replaceChildren(...findings.map(f => html("li", null,
    html("span", { class: "meter" }, html("i", { style: `width: ${Math.min(100, f.share * 100)}%; background: var(--${colors[f.cause] ?? "other"})` }), html("b", null, format.percent(f.share))),
    html("span", null, format.words(f.text), " ", html("a", { class: "more", "data-to": SHOWN_IN[f.cause] ?? "account" }), lineOf(f.where), lostAt(f)))));
  const tiles = [
    ["contexts", format.count(stats.contexts)],
    ["duration", format.time(stats.duration_ns)],
    ["average parallelism", parallelism.average.toFixed(2)],
    ["potential parallelism", parallelism.potential_average.toFixed(2)],
    ["tasks", format.count(Object.values(stats.tasks).reduce((a, b) => a + b, 0))],
    ["edges", format.count(stats.edges)],
    ["block executions", format.big(stats.blocks)],
    ["memory accesses", format.big(stats.accesses)],
  ];
  $("tiles").replaceChildren(...tiles.map(([name, value]) => html("div", null, html("dt", null, name), html("dd", null, value))));
}

function fillParallelism(p) {
  drawTimeline($("timeline"), p);
  if (p.levels.length === 0) empty($("levels"), "The run has no duration.");
  else {
    const widest = Math.max(...p.levels.map(level => level.share));
    const rows = table([
      { title: "running", kind: "n", cell: level => level.running },
      { title: "time", kind: "n", cell: level => format.time(level.ns) },
      { title: "share", kind: "n", cell: level => format.percent(level.share) },
      { title: "", kind: "bar", cell: level => bar(level.share / widest, "running") },
    ], p.levels);
    $("levels").replaceChildren(html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Time by running contexts" }, rows));
  }
  $("potential-note").textContent = `If every task started as soon as its predecessors ended and waiting took no time: work ${format.time(p.work_ns)}, `
    + `span ${format.time(p.span_ns)}, ${p.potential_average.toFixed(2)} tasks at once on average.`;
  drawPotential($("potential"), p);
}

function fillBlocks(b) {
  const drawn = b.rows.filter(row => row.levels.length > 0).length;
  const some = drawn < b.total ? ` The heat map has the ${drawn} most executed, the scatter plot ${b.rows.length}.` : "";
  $("blocks-note").textContent = `${format.count(b.executions)} executions of ${format.count(b.total)} blocks, by the number of contexts running at the time.${some}`;
  drawHeat($("heat"), b);
  drawScatter($("scatter"), b);
  drawFunctions($("functions"), b);
}

function fillRun({ run, stats }) {
  const tasks = Object.entries(stats.tasks).map(([kind, n]) => `${format.count(n)} ${kind}`).join(", ");
  const facts = [
    ["command", run.command.join(" ")],
    ["host, process", [run.host, run.pid || ""].filter(Boolean).join(", ")],
    ["recorded by", [run.contech_version && `contech ${run.contech_version}`, run.mode && `mode ${run.mode}`].filter(Boolean).join(", ")],
    ["recording", run.complete ? "complete" : `incomplete, ${format.bytes(run.lost_bytes)} lost`],
    ["tasks", tasks],
    ["accesses", `${format.count(stats.reads)} reads, ${format.count(stats.writes)} writes, ${format.bytes(stats.bytes_accessed)}`],
    ["sizes", `trace ${format.bytes(stats.trace_bytes)}, graph ${format.bytes(stats.graph_bytes)}`],
    ["functions", format.count(stats.functions)],
  ];
  $("facts").replaceChildren(table([
    { title: "", cell: fact => fact[0] },
    { title: "", kind: "code", cell: fact => fact[1] },
  ], facts.filter(fact => fact[1])));
}

chooseTheme();
fillHead(data);
fillParallelism(data.parallelism);
fillBlocks(data.blocks);
$("cache-note").textContent = `${data.cache.private ? "A cache per context" : "One cache shared by all contexts"}, ${data.cache.line}-byte lines, `
  + "least recently used, fed with every access in breadth-first order of tasks.";
drawMisses($("curves"), data.cache);
// The division of all processor time stands at the top of the page.
const below = part => part.chart?.form !== "stacks";
data.sections.forEach(section => drawSection($(section.id), section.id === "account" ? { ...section, parts: section.parts.filter(below) } : section));
fillRun(data);
linkFindings();
linkTerms();
fillMenu();
