// Fills the page from its data.

// The sections where a finding is shown in full; the others are in the account.
const SHOWN_IN = { cache: "misses", sharing: "sharing", allocation: "memuse", races: "races", spawns: "workspan", bottleneck: "workspan", unrecorded: "parallelism" };
const FIRST = 3;

const estimated = name => STATES.get(name)?.estimate ?? false;
const named = (name, share) => `${name} ${format.percent(share)}${estimated(name) ? " (estimate)" : ""}`;
const colored = (name, style = "") => ({ class: estimated(name) ? "estimate" : null, style: `${style}background-color: var(--${colorOf(name)})` });

// All processor time as one bar.
function drawDivision(target) {
  const parts = data.sections.find(section => section.id === "account")?.parts ?? [];
  const chart = parts.find(part => part.chart?.form === "stacks")?.chart;
  const shown = (chart?.parts ?? []).filter(part => part.values[0] > 0);
  if (shown.length === 0) return;
  const words = part => named(part.name, part.values[0]);
  const whole = html("div", { class: "whole", role: "img", "aria-label": `Processor time: ${shown.map(words).join(", ")}` },
    shown.map(part => html("i", { title: `${words(part)}: ${STATES.get(part.name)?.doc ?? ""}`, ...colored(part.name, `width: ${(part.values[0] * 100).toFixed(2)}%; `) })));
  target.replaceChildren(whole, html("ul", { class: "key-list", "aria-label": "Processor time" }, shown.map(part => html("li", null, html("i", colored(part.name)), words(part)))));
}

// The threads over time, below the bar.
function fillLanes(p) {
  const lanes = drawActivity($("lanes"), { ...p.lanes, zoomed: keepZoom });
  $("lanes-note").textContent = !lanes ? "" : "The line is the critical path. An empty part of a lane: nothing of the thread was recorded. Click: go to the source. Drag or Ctrl + wheel: zoom. Keys: arrows, Enter, + − 0, / for search.";
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
  $("lanes").scrollIntoView({ block: "nearest" });
  $("lanes-lost").textContent = `The strip above the rows: what was lost to ${finding.cause}, as a share of all processor time at that moment.`;
}

// The lines of the source that a finding is about; those that took time are marked. Of a second place only the line itself.
function codeOf(f) {
  const longest = Math.max(1, ...(f.code ?? []).flatMap(e => e.lines.map(line => line[2])));
  const line = ([number, text, ns], place) => html("div", { class: place.endsWith(`:${number}`) ? "here" : null, style: ns > 0 ? `--heat: ${Math.round(ns / longest * 45)}%` : null },
    html("i", null, String(number)), html("b", null, ns > longest / 100 ? format.time(ns) : ""), html("code", null, text || " "));
  return (f.code ?? []).map((e, at) => html("figure", { class: "excerpt" },
    html("figcaption", null, html("a", { href: "#source", onclick: event => { event.preventDefault(); goTo(e.place); } }, e.place), at > 0 ? " waits" : ""),
    e.lines.filter(([number]) => at === 0 || e.place.endsWith(`:${number}`)).map(one => line(one, e.place))));
}

function findingOf(f, lanes, duration) {
  const section = $(SHOWN_IN[f.cause]);
  const lost = lanes && f.when?.some(share => share > 0)
    ? html("button", { type: "button", class: "when", onclick: () => showLost(lanes, f, colorOf(f.cause), duration) }, "On the timeline") : null;
  const more = section ? html("a", { class: "more", href: `#${section.id}` }, section.querySelector("h2").textContent) : null;
  const gain = f.gain ? html("span", { class: "gain" }, `without it ${f.gain >= 100 ? "over 100" : f.gain.toFixed(1)}× as fast`) : null;
  return html("li", null, html("div", null,
    html("p", { class: "amount" }, html("span", { class: "meter" }, html("i", colored(f.cause, `width: ${Math.min(100, f.share * 100)}%; `)), html("b", null, named(f.cause, f.share))), gain),
    html("p", { class: "what" }, f.what ? `${f.what[0].toUpperCase()}${format.words(f.what.slice(1))}.` : format.words(f.text)),
    f.advice ? html("p", { class: "advice" }, f.advice) : null,
    html("p", { class: "links" }, more, lost)), html("div", null, codeOf(f)));
}

function fillHead({ run, parallelism, findings, warnings, headline }) {
  const lanes = fillLanes(parallelism);
  $("command").textContent = run.command.join(" ") || "unnamed program";
  const when = run.start_unix_ns ? new Date(run.start_unix_ns / 1e6).toISOString().slice(0, 19).replace("T", " ") + " UTC" : "";
  $("recorded").textContent = [run.host, when].filter(Boolean).join(" · ");
  $("warnings").replaceChildren(...warnings.map(text => html("p", null, text)));
  // What follows is of a part of the run only, which must be known before.
  if (!run.complete) $("headline").before($("warnings"));
  // What helps and what it brings stands with the finding.
  const [first] = findings;
  $("headline").textContent = format.words(first?.what ? headline.replace(first.text, `${format.percent(first.share)} went to ${first.what}.`) : headline);
  drawDivision($("division"));
  const [shown, others] = [findings.slice(0, FIRST), findings.slice(FIRST)].map(list => list.map(f => findingOf(f, lanes, parallelism.duration_ns)));
  $("findings").replaceChildren(...shown);
  $("more-findings").hidden = others.length === 0;
  $("more-findings").querySelector("summary").textContent = others.length === 1 ? "One more finding" : `${others.length} more findings`;
  $("more-findings").querySelector("ol").replaceChildren(...others);
  return lanes;
}

function fillParallelism(p) {
  drawTimeline($("timeline"), p);
  if (p.levels.length === 0) empty($("levels"), "The run has no duration.");
  else drawTable($("levels"), {
    columns: [{ title: "running", unit: "count" }, { title: "time", unit: "time" }, { title: "share", unit: "share" }],
    rows: p.levels.map(level => [level.running, level.ns, level.share]), total: p.levels.length,
  }, "Time by running contexts");
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

function fillRun({ run, stats, parallelism }) {
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
  drawTable($("facts"), { columns: [{ title: "what" }, { title: "value" }], rows: facts.filter(fact => fact[1]), total: 0 }, "Run and recording");
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

chooseTheme();
// The sentence and the division of all processor time stand at the top of the page.
const below = part => part.part !== "line" && part.chart?.form !== "stacks";
data.sections.forEach(section => drawSection($(section.id), section.id === "account" ? { ...section, parts: section.parts.filter(below) } : section));
fillParallelism(data.parallelism);
fillBlocks(data.blocks);
$("cache-note").textContent = `${data.cache.private ? "A cache per context" : "One cache shared by all contexts"}, ${data.cache.line}-byte lines, `
  + "least recently used, fed with every access in breadth-first order of tasks.";
drawMisses($("curves"), data.cache);
fillRun(data);
const lanes = fillHead(data);
linkTerms();
fillMenu();
searchTables();
followAddress(lanes);
