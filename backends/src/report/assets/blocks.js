// Basic blocks: how often each ran at each number of running contexts, and on average.

const SHADES = 8;
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
  let largest = 1;
  const counts = rows.map(row => {
    const sums = new Array(columns).fill(0);
    for (const [level, count] of row.levels) sums[columnOf(level)] += count;
    largest = Math.max(largest, ...sums);
    return sums;
  });
  const shade = count => Math.min(SHADES - 1, Math.floor(Math.log(count) / Math.log(largest + 1) * SHADES));
  const legend = Array.from({ length: SHADES }, (_, i) => ({ color: `h${i}`, name: "" }));
  legend[0].name = "1";
  legend[SHADES - 1].name = `${format.big(largest)} executions`;
  const named = rows.length <= 34;
  return new Plot(target, {
    label: "Heat map of block executions by number of running contexts", height: Math.max(150, Math.min(470, rows.length * 17 + 60)),
    zoom: "y", least: Math.min(rows.length, 4), legend, left: named ? 150 : 52,
    x: {
      domain: [0, columns], label: "running contexts", grid: false,
      ticks: (a, b, n) => {
        const step = Math.max(1, Math.ceil(columns / n));
        return Array.from({ length: Math.ceil(columns / step) }, (_, i) => ({ value: i * step + 0.5, label: levelsOf(i * step) }));
      },
    },
    y: {
      domain: [0, rows.length], down: true, grid: false, label: named ? "" : "blocks, by average parallelism",
      ticks: (low, high, n) => {
        const step = named || high - low <= n ? 1 : Math.ceil((high - low) / n);
        const list = [];
        for (let i = Math.ceil(low); i + 0.5 <= high; i += step) {
          const row = rows[i];
          list.push({ value: i + 0.5, label: named ? clip(format.place(row), 22) : `${i + 1}` });
        }
        return list;
      },
    },
    draw(scene) {
      const paths = Array.from({ length: SHADES }, () => []);
      const gap = scene.y(1) - scene.y(0) > 6 ? 1 : 0;
      const last = Math.min(rows.length, Math.ceil(scene.view.y[1]));
      for (let r = Math.max(0, Math.floor(scene.view.y[0])); r < last; r += 1) {
        const y = Math.max(scene.top, scene.y(r));
        const height = Math.max(0.5, Math.min(scene.bottom, scene.y(r + 1)) - y - gap);
        counts[r].forEach((count, c) => {
          if (count === 0) return;
          const width = scene.x(c + 1) - scene.x(c) - gap;
          paths[shade(count)].push(`M${scene.x(c).toFixed(1)},${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(2)}h${(-width).toFixed(1)}z`);
        });
      }
      paths.forEach((parts, i) => {
        if (parts.length) scene.layer.append(svg("path", { d: parts.join(""), fill: `var(--h${i})` }));
      });
    },
    locate(scene, px, py) {
      if (px < scene.left || px >= scene.right || py < scene.top || py >= scene.bottom) return null;
      const value = (p, from, to, [low, high]) => low + (p - from) / (to - from) * (high - low);
      const column = Math.floor(value(px, scene.left, scene.right, scene.view.x));
      const row = Math.floor(value(py, scene.top, scene.bottom, scene.view.y));
      return { column: Math.min(columns - 1, column), row: Math.min(rows.length - 1, row) };
    },
    move(scene, at, dx, dy) {
      if (at === null) return { column: 0, row: Math.ceil(scene.view.y[0]) };
      const clamp = (v, most) => Math.max(0, Math.min(most - 1, v));
      return { column: clamp(at.column + dx, columns), row: clamp(at.row + dy, rows.length) };
    },
    describe(scene, { column, row }) {
      const block = rows[row];
      const [x, y] = [scene.x(column), scene.y(row)];
      return {
        title: `${block.function || "?"} (${format.place(block)})`,
        rows: [
          { name: `executions with ${levelsOf(column)} running`, value: format.count(counts[row][column]) },
          { name: "executions in all", value: format.count(block.executions) },
          { name: "average running", value: block.average.toFixed(2) },
        ],
        px: scene.x(column + 0.5), py: scene.y(row + 0.5),
        box: { x, y, width: scene.x(column + 1) - x, height: Math.max(2, scene.y(row + 1) - y) },
      };
    },
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
  if (data.functions.length === 0) return empty(target, "No function was recorded.");
  const most = data.functions[0].executions;
  const rows = table([
    { title: "function", kind: "code", cell: row => row.function || "?" },
    { title: "place", kind: "code", cell: row => format.place(row) },
    { title: "blocks", kind: "n", cell: row => format.count(row.blocks) },
    { title: "block executions", kind: "n", cell: row => format.count(row.executions) },
    { title: "of all", kind: "n", cell: row => format.percent(row.executions / data.executions) },
    { title: "average running", kind: "n", cell: row => row.average.toFixed(2) },
    { title: "", kind: "bar", cell: row => bar(row.executions / most, styleOf(row.average, data.max_running)) },
  ], data.functions);
  target.replaceChildren(html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Functions" }, rows));
}
