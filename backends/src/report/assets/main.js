// Fills the page from its data.

function fillHead({ run, stats, parallelism, findings, warnings, headline }) {
  $("command").textContent = run.command.join(" ") || "unnamed program";
  const when = run.start_unix_ns ? new Date(run.start_unix_ns / 1e6).toISOString().slice(0, 19).replace("T", " ") + " UTC" : "";
  $("recorded").textContent = [run.host, when].filter(Boolean).join(" · ");
  $("warnings").replaceChildren(...warnings.map(text => html("p", null, text)));
  $("headline").textContent = headline;
  const colors = { serialization: "serial", imbalance: "barrier", scheduling: "w4", bottleneck: "serial", spawns: "running", serial: "serial", dependences: "barrier", processors: "running", hot: "semaphore", cache: "w4", misses: "w4", sharing: "w7", races: "lock" };
  $("findings").replaceChildren(...findings.map(f => html("li", null,
    html("span", { class: "meter" }, html("i", { style: `width: ${Math.min(100, f.share * 100)}%; background: var(--${colors[f.cause] ?? f.cause})` }), html("b", null, format.percent(f.share))),
    html("span", null, f.text))));
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
  $("lanes-note").textContent = "A row for each context, coloured by what it does; the black or white line is the chain of events that decided how long the run took."
    + (p.others > 0 ? ` The ${format.count(p.others)} contexts that lived shortest are not drawn.` : "");
  drawActivity($("lanes"), p.lanes);
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
  if (p.places.length === 0) empty($("places"), "No context waited.");
  else {
    const most = p.places[0].ns;
    const rows = table([
      { title: "for", cell: at => at.cause },
      { title: "place", kind: "code", cell: at => (at.function || at.file) ? `${at.function || "?"} (${format.place(at)})` : "no recorded code" },
      { title: "waits", kind: "n", cell: at => format.count(at.waits) },
      { title: "time", kind: "n", cell: at => format.time(at.ns) },
      { title: "", kind: "bar", cell: at => bar(at.ns / most, at.cause) },
    ], p.places);
    $("places").replaceChildren(html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Waiting, by place" }, rows));
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
data.sections.forEach(section => drawSection($(section.id), section));
fillRun(data);
