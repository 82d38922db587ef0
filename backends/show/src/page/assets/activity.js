// What each lane did over time: a row for each, coloured by state; a column of a row is divided as its time was.

const LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const MARKS = 60000;
// Rows lower than this, in points, are a heat map.
const LOW = 6;

function drawActivity(target, chart) {
  const n = chart.rows.length;
  const bins = Math.max(0, ...chart.rows.flatMap(row => row.states.map(s => s.levels.length)));
  if (n === 0 || bins === 0) return empty(target, `${chart.title}: nothing was observed.`);
  const rows = chart.rows.map(row => ({ name: row.name, notes: row.notes ?? [], states: new Map(row.states.map(s => [s.name, [...s.levels].map(c => LEVELS.indexOf(c))])) }));
  const legend = [];
  for (const row of chart.rows) for (const s of row.states) if (!legend.some(e => e.name === s.name)) legend.push({ name: s.name, color: colorOf(s.name), on: true });
  // What a lane did for most of a bin: its notes are kept as lengths.
  const noteAt = ({ bin, row }) => {
    let left = bin;
    for (const [bins, note] of rows[row].notes) { if (left < bins) return chart.notes[note - 1] ?? null; left -= bins; }
    return null;
  };
  const end = bins * chart.bin_ns;
  const mean = (levels, a, b) => {
    let sum = 0;
    for (let i = a; i < b; i += 1) sum += levels[i] ?? 0;
    return sum / (b - a) / 63;
  };
  // The first and the last bin of a column; columns so wide that the picture stays light.
  const columns = ([low, high], pixels) => {
    const [a, b] = [Math.max(0, Math.floor(low / chart.bin_ns)), Math.min(bins, Math.ceil(high / chart.bin_ns))];
    const step = Math.max(1, Math.ceil((b - a) / Math.min(pixels / 2, MARKS / (n * legend.length))));
    const list = [];
    for (let i = a; i < b; i += step) list.push([i, Math.min(b, i + step)]);
    return list;
  };
  const height = Math.max(76, Math.min(340, n * 22 + 42));
  const wide = Math.max(...rows.map(row => row.name.length));
  const within = (v, most) => Math.max(0, Math.min(most - 1, v));
  return new Plot(target, {
    label: chart.title, height, zoom: "x", least: chart.bin_ns * 4, legend, left: Math.min(170, 14 + 6.6 * wide), open: at => goTo(noteAt(at)?.place), zoomed: chart.zoomed,
    x: { domain: [0, end], label: "", ticks: timeTicks, grid: false },
    y: { domain: [0, n], down: true, label: "", grid: false, ticks: (a, b) => cellTicks(a, b, (height - 32) / 13, n, i => clip(rows[i].name, 24)) },
    draw(scene) {
      const gap = scene.y(1) - scene.y(0) > 6 ? 2 : 0;
      const list = columns(scene.view.x, scene.right - scene.left);
      const paths = new Map();
      const box = (e, opacity, left, wide, y, h) => {
        const key = `${e.color} ${opacity}`;
        if (!paths.has(key)) paths.set(key, { e, opacity, d: "" });
        paths.get(key).d += `M${left.toFixed(1)},${y.toFixed(1)}h${wide.toFixed(2)}v${h.toFixed(1)}h${(-wide).toFixed(2)}z`;
      };
      rows.forEach((row, r) => {
        const [top, tall] = [scene.y(r), scene.y(r + 1) - scene.y(r) - gap];
        for (const [a, b] of list) {
          const left = Math.max(scene.left, scene.x(a * chart.bin_ns));
          const wide = Math.min(scene.right, scene.x(b * chart.bin_ns)) - left;
          const shares = legend.map(e => ({ e, share: e.on && row.states.has(e.name) ? mean(row.states.get(e.name), a, b) : 0 }));
          // Where rows are too low to be divided, they are a heat map: the largest state, the darker the busier.
          if (tall < LOW) {
            const all = shares.reduce((sum, one) => sum + one.share, 0);
            const { e } = shares.reduce((most, one) => one.share > most.share ? one : most);
            if (all > 0) box(e, Math.ceil(Math.min(1, all) ** 0.25 * 4) / 4, left, wide, top, Math.max(1, tall));
            continue;
          }
          let y = top + tall;
          for (const { e, share } of shares) {
            const h = share * tall;
            if (h < 0.05) continue;
            y -= h;
            box(e, 1, left, wide, y, h);
          }
        }
      });
      this.marks?.shares.forEach((share, i) => {
        const [left, right] = [i, i + 1].map(at => Math.max(scene.left, Math.min(scene.right, scene.x(at * this.marks.wide))));
        if (share > 0 && right > left) scene.layer.append(svg("rect", { class: "lost", x: left, width: right - left, y: 0, height: 7, fill: `var(--${this.marks.color})`, opacity: Math.min(1, 0.15 + share) }));
      });
      const course = chart.path.filter(([, from, to]) => to > scene.view.x[0] && from < scene.view.x[1]);
      const at = (t, lane) => `${Math.max(scene.left, Math.min(scene.right, scene.x(t))).toFixed(1)},${scene.y(lane + 0.5).toFixed(1)}`;
      for (const { e, opacity, d } of paths.values()) scene.layer.append(svg("path", { d, fill: `var(--${e.color})`, opacity }));
      if (course.length) scene.layer.append(svg("path", { class: "course", style: course.length > 80 ? "stroke-width: 1" : null, d: `M${course.map(([lane, from, to]) => `${at(from, lane)}L${at(to, lane)}`).join("L")}` }));
    },
    locate(scene, px, py) {
      if (px < scene.left || px >= scene.right || py < scene.top || py >= scene.bottom) return null;
      const [low, high] = scene.view.x;
      return { bin: within(Math.floor((low + (px - scene.left) / (scene.right - scene.left) * (high - low)) / chart.bin_ns), bins), row: within(Math.floor((py - scene.top) / (scene.bottom - scene.top) * n), n) };
    },
    move: (scene, at, dx, dy) => at === null ? { bin: Math.ceil(scene.view.x[0] / chart.bin_ns), row: 0 } : { bin: within(at.bin + dx, bins), row: within(at.row + dy, n) },
    describe(scene, { bin, row }) {
      const shares = legend.map(e => ({ color: e.color, name: e.name, share: mean(rows[row].states.get(e.name) ?? [], bin, bin + 1) })).filter(s => s.share > 0);
      const note = noteAt({ bin, row });
      const said = note === null ? [] : [
        { color: colorOf(note.state), name: `${note.state}: ${STATES.get(note.state)?.doc ?? ""}`, value: "" },
        { name: `in ${note.function || "?"} (${note.place})`, value: "" },
        ...(note.whom ? [{ name: `until ${note.whom}`, value: "" }] : []),
      ];
      return {
        title: `${rows[row].name}, ${timeRange(bin * chart.bin_ns, (bin + 1) * chart.bin_ns)}`, px: scene.x((bin + 0.5) * chart.bin_ns), py: scene.y(row + 0.5),
        rows: note !== null && shares.length < 2 ? said : [...said, ...shares.map(s => ({ color: s.color, name: s.name, value: format.percent(s.share) }))],
      };
    },
  });
}
