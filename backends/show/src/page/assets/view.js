// Draws what an analysis says of itself: headings, sentences, sortable tables, curves and matrices.

const SHOW = {
  count: v => format.count(v), number: v => v.toFixed(2), share: v => format.percent(v), bytes: v => format.bytes(v), time: v => format.time(v),
};
const show = (unit, value) => value === null || value === undefined ? "" : unit ? SHOW[unit](value) : String(value);

function drawSection(target, section) {
  const title = section.parts.find(part => part.part === "heading");
  const first = section.parts.find(part => part.part === "line");
  const body = target.querySelector(".body");
  target.querySelector("h2").textContent = title ? title.text : section.menu;
  target.querySelector(".brief").textContent = first ? format.words(first.text) : "";
  section.parts.filter(part => part !== title).forEach((part, at) => {
    const place = html("div");
    if (part.part === "heading") body.append(html("h3", null, part.text));
    else if (part.part === "line") body.append(html("p", { class: "quiet" }, format.words(part.text)));
    else {
      // Several of a kind need their names.
      if (part.part === "chart" && ["activity", "stacks"].includes(part.chart.form)) body.append(html("h4", null, part.chart.title));
      body.append(place);
    }
    if (part.part === "table") drawTable(place, part, `${section.id}, table ${at}`);
    if (part.part === "chart") ({ matrix: drawMatrix, flames: drawFlames, stacks: drawStacks, activity: drawActivity }[part.chart.form] ?? drawLines)(place, part.chart);
  });
}

// The colour of a cause, if it has one.
function swatchOf(cause) {
  const name = cause === "the program" ? "running" : cause;
  return STATES.has(name) ? html("i", { class: STATES.get(name).estimate ? "estimate" : null, style: `background-color: var(--${colorOf(name)})` }) : null;
}

// A table whose columns sort at a click or a key; shares have a bar.
function drawTable(target, part, label) {
  if (part.rows.length === 0) return empty(target, "Nothing to list.");
  const more = html("p", { class: "quiet" }, part.total > part.rows.length ? `The first ${part.rows.length} of ${format.count(part.total)}; all of them with --format csv.` : "");
  // Names break between words only, and where a word is very long.
  const widest = part.columns.map((c, at) => c.unit ? 0 : Math.min(30, Math.max(...part.rows.map(row => String(row[at] ?? "").length)) + (c.title === "cause" ? 3 : 0)));
  const frame = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label });
  const order = { column: null, down: true };
  const compare = (a, b) => {
    const [p, q] = [a[order.column], b[order.column]];
    const by = p === q ? 0 : p === null ? -1 : q === null ? 1 : typeof p === "number" ? p - q : p.localeCompare(q, undefined, { numeric: true });
    return order.down ? -by : by;
  };
  const fill = () => {
    const rows = order.column === null ? part.rows : [...part.rows].sort(compare);
    const head = part.columns.map((c, at) => {
      const sorted = order.column === at ? (order.down ? "descending" : "ascending") : "none";
      const sort = () => {
        order.down = order.column === at ? !order.down : Boolean(c.unit);
        order.column = at;
        fill();
        frame.querySelectorAll("th button")[at]?.focus();
      };
      const mark = { descending: " ▾", ascending: " ▴", none: "" }[sorted];
      return html("th", { class: c.unit ? "n" : null, scope: "col", "aria-sort": sorted }, html("button", { type: "button", onclick: sort }, (c.title || "·") + mark));
    });
    const cell = (value, at) => {
      const { unit } = part.columns[at];
      const state = part.columns[at].title === "cause" ? swatchOf(value) : null;
      if (unit !== "share" || value === null) return html("td", { class: unit ? "n" : "code", style: unit ? null : `min-width: ${widest[at]}ch` }, state, show(unit, value));
      return html("td", { class: "n share" }, html("i", { style: `width: ${Math.min(100, value * 100).toFixed(1)}%` }), html("b", null, show(unit, value)));
    };
    frame.replaceChildren(html("table", { class: "sortable" }, html("thead", null, html("tr", null, head)),
      html("tbody", null, rows.map(row => html("tr", null, row.map(cell))))));
  };
  fill();
  target.replaceChildren(frame, more);
}

function axisTicks(axis) {
  if (axis.scale === "log2") return (a, b, n) => {
    const step = Math.max(1, Math.ceil((b - a) / n));
    const list = [];
    for (let i = Math.ceil(a - 1e-9); i <= b + 1e-9; i += step) list.push({ value: i, label: axis.unit === "bytes" ? format.size(2 ** i) : format.big(2 ** i) });
    return list;
  };
  if (axis.unit === "time") return timeTicks;
  const word = { bytes: v => format.bytes(v), share: v => format.percent(v), count: v => format.big(v), number: v => String(+v.toPrecision(6)) }[axis.unit];
  const whole = axis.unit === "count" || axis.unit === "bytes";
  return (a, b, n) => ticks(a, b, n, whole).map(value => ({ value, label: word(value) }));
}

let clips = 0;

function drawLines(target, chart) {
  const log = chart.x.scale === "log2";
  const place = x => log ? Math.log2(x) : x;
  const series = chart.series.map((s, i) => ({ color: `w${i % 8}`, name: s.name, on: true, points: s.points.map(([x, y, note]) => ({ x: place(x), y, note })) }))
    .filter(s => s.points.length > 0);
  if (series.length === 0) return empty(target, `${chart.title}: nothing was recorded.`);
  const xs = [...new Set(series.flatMap(s => s.points.map(p => p.x)))].sort((a, b) => a - b);
  const [low, high] = [xs[0], xs[xs.length - 1]];
  // A step holds from before the view.
  const seen = (s, [a, b]) => s.points.filter((p, i) => p.x <= b && ((s.points[i + 1]?.x ?? Infinity) >= a));
  const tallest = view => {
    let most = 0;
    for (const s of series) if (s.on) for (const p of seen(s, view)) most = Math.max(most, p.y);
    return (most || 1) * 1.05;
  };
  const nearest = x => xs[Math.min(xs.length - 1, Math.max(0, chart.steps ? stretchAt(xs, x) : (() => {
    const at = stretchAt(xs, x);
    return xs[at + 1] !== undefined && xs[at + 1] - x < x - xs[at] ? at + 1 : at;
  })()))];
  const clip = `clip-${clips += 1}`;
  return new Plot(target, {
    label: chart.title, height: 300, zoom: "x", least: (high - low) / 1e4, legend: series, left: 70,
    x: { domain: low === high ? [low - 1, high + 1] : [low, high], label: chart.x.label, ticks: axisTicks(chart.x) },
    y: { domain: [0, tallest([low, high])], visible: view => [0, tallest(view)], label: chart.y.label, ticks: axisTicks(chart.y) },
    draw(scene) {
      const curves = svg("g", { "clip-path": `url(#${clip})` });
      for (const s of series.filter(s => s.on)) {
        const points = thin(s.points, scene);
        let d = "";
        points.forEach((p, i) => {
          const [x, y] = [scene.x(p.x).toFixed(1), scene.y(p.y).toFixed(1)];
          d += i === 0 ? `M${x},${y}` : chart.steps ? `H${x}V${y}` : `L${x},${y}`;
        });
        curves.append(svg("path", { class: "curve", d, stroke: `var(--${s.color})` }));
        if (!chart.steps && points.length <= 64) for (const p of points) curves.append(svg("circle", { cx: scene.x(p.x).toFixed(1), cy: scene.y(p.y).toFixed(1), r: 3, fill: `var(--${s.color})` }));
      }
      scene.layer.append(svg("clipPath", { id: clip }, svg("rect", { x: scene.left - 4, y: 0, width: scene.right - scene.left + 8, height: scene.bottom + 4 })), curves);
    },
    locate: (scene, px) => px < scene.left - 8 || px > scene.right + 8 ? null
      : nearest(scene.view.x[0] + (px - scene.left) / (scene.right - scene.left) * (scene.view.x[1] - scene.view.x[0])),
    move: (scene, x, dx) => x === null ? nearest(scene.view.x[0]) : xs[Math.max(0, Math.min(xs.length - 1, xs.indexOf(x) + dx))],
    describe(scene, x) {
      const rows = series.filter(s => s.on).map(s => {
        const at = stretchAt(s.points.map(p => p.x), x);
        const p = s.points[at];
        return chart.steps || p.x === x ? { color: s.color, name: s.name, value: show(chart.y.unit, p.y) + (p.note ? ` (${p.note})` : "") } : null;
      }).filter(row => row !== null);
      const value = log ? 2 ** x : x;
      return { title: log && chart.x.unit === "bytes" ? format.size(value) : show(chart.x.unit, value), rows, px: scene.x(x) };
    },
  });
}

// At most two points per pixel, the lowest and the highest of each: peaks stay.
function thin(points, scene) {
  const pixels = scene.right - scene.left;
  const [low, high] = scene.view.x;
  const first = Math.max(0, points.findIndex(p => p.x >= low) - 1);
  let last = points.length - 1;
  while (last > first && points[last - 1].x > high) last -= 1;
  const inside = points.slice(first, last + 1);
  if (inside.length <= pixels * 2) return inside;
  const kept = [];
  let [column, least, most] = [null, null, null];
  const flush = () => { if (least) kept.push(...(least === most ? [least] : least.x < most.x ? [least, most] : [most, least])); };
  for (const p of inside) {
    const at = Math.round(scene.x(p.x));
    if (at !== column) { flush(); [column, least, most] = [at, p, p]; }
    if (p.y < least.y) least = p;
    if (p.y > most.y) most = p;
  }
  flush();
  return kept;
}

function drawMatrix(target, chart) {
  const n = chart.names.length;
  const names = (a, b, count) => cellTicks(a, b, count, n, i => clip(chart.names[i], 12));
  return drawGrid(target, {
    label: chart.title, nothing: `${chart.title}: nothing was recorded.`, counts: chart.values, unit: v => show(chart.unit, v),
    left: 60, height: Math.max(160, Math.min(520, n * 22 + 60)),
    x: { label: chart.axes[1], ticks: names }, y: { label: chart.axes[0], ticks: names },
    cell: (row, column) => ({
      title: `${chart.axes[0]} ${chart.names[row]}, ${chart.axes[1]} ${chart.names[column]}`,
      rows: [{ name: chart.title, value: show(chart.unit, chart.values[row][column]) }],
    }),
  });
}
