// Basic blocks: how often each ran at each number of running contexts, and on average.

const MOST_COLUMNS = 64;

// Heat map: one row per block, sorted by average parallelism; one column per number of running contexts.
function drawHeat(target, data) {
  const rows = data.rows.filter(row => row.levels.length > 0).sort((a, b) => a.average - b.average || b.executions - a.executions);
  if (rows.length === 0) return empty(target, "No basic block was recorded.");
  const columns = Math.min(MOST_COLUMNS, data.max_running);
  const columnOf = level => Math.floor((level - 1) * columns / data.max_running);
  const levelsOf = column => {
    const first = Math.ceil(column * data.max_running / columns) + 1;
    const last = Math.ceil((column + 1) * data.max_running / columns);
    return first === last ? `${first}` : `${first}–${last}`;
  };
  const counts = rows.map(row => {
    const sums = new Array(columns).fill(0);
    for (const [level, count] of row.levels) sums[columnOf(level)] += count;
    return sums;
  });
  const named = rows.length <= 34;
  return drawGrid(target, {
    label: "Heat map of block executions by number of running contexts", nothing: "No block was executed while a context was running.",
    counts, unit: v => v === 1 ? "1" : `${format.big(v)} executions`, left: named ? 150 : 52, height: Math.max(150, Math.min(470, rows.length * 17 + 60)),
    x: { label: "running contexts", ticks: (a, b, n) => cellTicks(a, b, n, columns, levelsOf) },
    y: {
      label: named ? "" : "blocks, by average parallelism",
      ticks: (a, b, n) => cellTicks(a, b, named ? rows.length : n, rows.length, i => named ? clip(format.place(rows[i]), 22) : `${i + 1}`),
    },
    cell: (row, column) => ({
      title: `${rows[row].function || "?"} (${format.place(rows[row])})`,
      rows: [
        { name: `executions with ${levelsOf(column)} running`, value: format.count(counts[row][column]) },
        { name: "executions in all", value: format.count(rows[row].executions) },
        { name: "average running", value: rows[row].average.toFixed(2) },
      ],
    }),
  });
}

function clip(text, length) {
  return text.length > length ? `…${text.slice(1 - length)}` : text;
}

// The three styles of the paper: serial, mixed, highly parallel.
function styleOf(average, most) {
  if (average < 1.5) return "serial";
  return average >= most * 0.75 ? "parallel" : "mixed";
}

function drawScatter(target, data) {
  if (data.rows.length === 0) return empty(target, "No basic block was recorded.");
  const points = data.rows.map(row => ({ row, x: Math.log10(row.executions), y: row.average }));
  points.sort((a, b) => a.x - b.x || a.y - b.y);
  const most = Math.max(...points.map(p => p.x));
  const legend = ["serial", "mixed", "parallel"].map(name => ({ color: name, name: name === "serial" ? "serial (< 1.5)" : name, on: true }));
  const shown = p => legend.find(e => e.color === styleOf(p.y, data.max_running)).on;
  return new Plot(target, {
    label: "Average number of running contexts of each block against its executions", height: 380, zoom: "x", least: 0.1, legend,
    x: { domain: [points[0].x - 0.2, Math.max(points[0].x + 1, most) + 0.2], label: "executions (log)", ticks: logTicks },
    y: {
      domain: [0, Math.max(1, data.max_running) * 1.06], label: "average running contexts",
      ticks: (a, b, n) => ticks(a, b, n, b > 4).map(value => ({ value, label: String(+value.toFixed(2)) })),
    },
    draw(scene) {
      for (const point of points) {
        if (point.x < scene.view.x[0] || point.x > scene.view.x[1] || !shown(point)) continue;
        const color = `var(--${styleOf(point.y, data.max_running)})`;
        scene.layer.append(svg("circle", { cx: scene.x(point.x).toFixed(1), cy: scene.y(point.y).toFixed(1), r: 4, fill: color, opacity: 0.6 }));
      }
    },
    locate(scene, px, py) {
      let [best, distance] = [null, 30 ** 2];
      points.forEach((point, i) => {
        if (!shown(point)) return;
        const d = (scene.x(point.x) - px) ** 2 + (scene.y(point.y) - py) ** 2;
        if (d < distance) [best, distance] = [i, d];
      });
      return best;
    },
    move(scene, at, dx, dy) {
      const by = dx || dy;
      let next = at === null ? points.length - 1 : at + by;
      while (next >= 0 && next < points.length && !shown(points[next])) next += by || -1;
      return next < 0 || next >= points.length ? at : next;
    },
    describe(scene, at) {
      const { row, x, y } = points[at];
      return {
        title: `${row.function || "?"} (${format.place(row)})`,
        rows: [
          { name: "executions", value: format.count(row.executions) },
          { name: "average running", value: row.average.toFixed(2) },
        ],
        px: scene.x(x), py: scene.y(y),
      };
    },
  });
}

function drawFunctions(target, data) {
  drawTable(target, {
    columns: [{ title: "function" }, { title: "place" }, { title: "blocks", unit: "count" }, { title: "executions", unit: "count" }, { title: "of all", unit: "share" }, { title: "average running", unit: "number" }],
    rows: data.functions.map(row => [row.function || "?", format.place(row), row.blocks, row.executions, row.executions / data.executions, row.average]), total: data.functions.length,
  }, "Functions");
}
