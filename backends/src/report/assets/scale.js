// Fills the page of a measured program.

chooseTheme();
$("command").textContent = data.command;
$("recorded").textContent = data.measured;
$("warnings").replaceChildren(...data.warnings.map(text => html("p", null, text)));
$("headline").textContent = data.headline;
{
  const colors = { overhead: "join", scheduling: "w4", serialization: "w5", imbalance: "barrier", spin: "once", inflation: "message", contention: "message", memory: "message", cache: "condition", preemption: "delay", superlinear: "running", threads: "lock", scales: "running" };
  $("findings").replaceChildren(...data.findings.map(f => html("li", null,
    html("span", { class: "meter" }, html("i", { style: `width: ${Math.min(100, Math.abs(f.share) * 100)}%; background: var(--${colors[f.cause] ?? f.cause})` }), html("b", null, format.percent(Math.abs(f.share)))),
    html("span", null, f.text, html("br"), html("span", { class: "quiet" }, `Next: ${f.advice}`)))));
  $("tiles").replaceChildren(...data.tiles.map(([name, value]) => html("div", null, html("dt", null, name), html("dd", null, value))));
}
data.sections.forEach(section => drawSection($(section.id), section));
fillMenu();
