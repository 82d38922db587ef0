// Fills the page of a measured program.

chooseTheme();
$("command").textContent = data.command;
$("recorded").textContent = data.measured;
$("warnings").replaceChildren(...data.warnings.map(text => html("p", null, text)));
$("headline").textContent = data.headline;
$("findings").replaceChildren(...data.findings.map(f => html("li", null, html("div", null,
  html("p", { class: "amount" }, html("span", { class: "meter" }, html("i", { style: `width: ${Math.min(100, Math.abs(f.share) * 100)}%; background: var(--${colorOf(f.cause)})` }), html("b", null, `${f.cause} ${format.percent(Math.abs(f.share))}`))),
  html("p", { class: "what" }, f.text)), html("p", { class: "advice" }, f.advice))));
$("tiles").replaceChildren(...data.tiles.map(([name, value]) => html("div", null, html("dt", null, name), html("dd", null, value))));
data.sections.forEach(section => {
  drawSection($(section.id), section);
  $(section.id).querySelector("details").open = true;
});
fillMenu();
