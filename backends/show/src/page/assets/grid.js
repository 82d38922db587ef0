// A grid of cells shaded by the logarithm of a count: the heat map of the blocks, the matrices of the analyses.

const SHADES = 8;

// `grid`: label, height, zoom, left, counts (rows of columns), x and y (axes with ticks), unit(v) and cell(row, column): title and rows.
function drawGrid(target, grid) {
  const rows = grid.counts.length;
  const columns = rows ? grid.counts[0].length : 0;
  const largest = grid.counts.reduce((most, row) => row.reduce((a, b) => Math.max(a, b), most), 0);
  if (rows === 0 || columns === 0 || largest === 0) return empty(target, grid.nothing);
  const shade = v => Math.min(SHADES - 1, Math.floor(Math.log(v) / Math.log(largest + 1) * SHADES));
  const legend = Array.from({ length: SHADES }, (_, i) => ({ color: `h${i}`, name: "" }));
  legend[0].name = grid.unit(1);
  legend[SHADES - 1].name = grid.unit(largest);
  const within = (v, most) => Math.max(0, Math.min(most - 1, v));
  return new Plot(target, {
    label: grid.label, height: grid.height, zoom: "y", least: Math.min(rows, 4), legend, left: grid.left,
    x: { domain: [0, columns], grid: false, ...grid.x },
    y: { domain: [0, rows], down: true, grid: false, ...grid.y },
    draw(scene) {
      const gap = scene.y(1) - scene.y(0) > 6 ? 1 : 0;
      const paths = Array.from({ length: SHADES }, () => []);
      const last = Math.min(rows, Math.ceil(scene.view.y[1]));
      for (let r = Math.max(0, Math.floor(scene.view.y[0])); r < last; r += 1) {
        const y = Math.max(scene.top, scene.y(r));
        const height = Math.max(0.5, Math.min(scene.bottom, scene.y(r + 1)) - y - gap);
        grid.counts[r].forEach((v, c) => {
          if (v === 0) return;
          const width = scene.x(c + 1) - scene.x(c) - gap;
          paths[shade(v)].push(`M${scene.x(c).toFixed(1)},${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(2)}h${(-width).toFixed(1)}z`);
        });
      }
      paths.forEach((parts, i) => { if (parts.length) scene.layer.append(svg("path", { d: parts.join(""), fill: `var(--h${i})` })); });
    },
    locate(scene, px, py) {
      if (px < scene.left || px >= scene.right || py < scene.top || py >= scene.bottom) return null;
      const value = (p, from, to, [low, high]) => Math.floor(low + (p - from) / (to - from) * (high - low));
      return { column: within(value(px, scene.left, scene.right, scene.view.x), columns), row: within(value(py, scene.top, scene.bottom, scene.view.y), rows) };
    },
    move: (scene, at, dx, dy) => at === null ? { column: 0, row: Math.ceil(scene.view.y[0]) }
      : { column: within(at.column + dx, columns), row: within(at.row + dy, rows) },
    describe(scene, { column, row }) {
      const [x, y] = [scene.x(column), scene.y(row)];
      return {
        ...grid.cell(row, column), px: scene.x(column + 0.5), py: scene.y(row + 0.5),
        box: { x, y, width: scene.x(column + 1) - x, height: Math.max(2, scene.y(row + 1) - y) },
      };
    },
  });
}

// Marks in the middle of the cells `a` to `b`, at most `count`, named by `name`.
function cellTicks(a, b, count, cells, name) {
  const step = Math.max(1, Math.ceil((b - a) / count));
  const list = [];
  for (let i = Math.max(0, Math.ceil(a)); i < Math.min(cells, b); i += step) list.push({ value: i + 0.5, label: name(i) });
  return list;
}
