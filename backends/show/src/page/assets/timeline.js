// Parallelism over time: running contexts as a stepped area, waiting ones stacked above it by cause.

// Index of the stretch that holds time t.
function stretchAt(starts, t) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= t) low = middle; else high = middle - 1;
  }
  return low;
}

// Sums up stretches between two times; peaks are kept.
function sumUp(data, from, to) {
  const sum = { from, to, running: 0, min: Infinity, max: 0, waiting: data.waiting.map(() => 0) };
  for (let i = stretchAt(data.t_ns, from); i < data.t_ns.length && data.t_ns[i] < to; i += 1) {
    const end = data.t_ns[i + 1] ?? data.duration_ns;
    const share = (Math.min(end, to) - Math.max(data.t_ns[i], from)) / (to - from);
    if (share <= 0) continue;
    sum.running += data.average_running[i] * share;
    sum.min = Math.min(sum.min, data.min[i]);
    sum.max = Math.max(sum.max, data.max[i]);
    data.waiting.forEach((series, at) => { sum.waiting[at] += series.average[i] * share; });
  }
  return sum;
}

// What to draw for a view: the stretches themselves while they are wider than a pixel, otherwise one sum per pixel.
function cells(data, [low, high], pixels) {
  const [first, last] = [stretchAt(data.t_ns, low), stretchAt(data.t_ns, high)];
  if (last - first < pixels) {
    const own = [];
    for (let i = first; i <= last; i += 1) {
      const from = Math.max(low, data.t_ns[i]);
      const to = Math.min(high, data.t_ns[i + 1] ?? data.duration_ns);
      if (to > from) own.push(sumUp(data, from, to));
    }
    return own;
  }
  const cut = i => low + (high - low) * i / pixels;
  return Array.from({ length: pixels }, (_, i) => sumUp(data, cut(i), cut(i + 1)));
}

function steppedArea(scene, cells, bottoms, tops) {
  const forward = cells.map((c, i) => `${scene.x(c.from).toFixed(1)},${scene.y(tops[i]).toFixed(1)} ${scene.x(c.to).toFixed(1)},${scene.y(tops[i]).toFixed(1)}`);
  const back = cells.map((c, i) => `${scene.x(c.to).toFixed(1)},${scene.y(bottoms[i]).toFixed(1)} ${scene.x(c.from).toFixed(1)},${scene.y(bottoms[i]).toFixed(1)}`).reverse();
  return `M${forward.join("L")}L${back.join("L")}Z`;
}

function drawTimeline(target, data) {
  if (data.duration_ns === 0 || data.t_ns.length === 0) return empty(target, "The run has no duration: nothing to show over time.");
  const legend = [{ color: "running", name: "running", on: true }];
  for (const series of data.waiting) legend.push({ color: series.cause, name: series.cause, on: true });
  legend.push({ color: "dash", name: `average ${data.average.toFixed(2)}` });
  let most = Math.max(1, data.peak);
  data.t_ns.forEach((_, i) => {
    most = Math.max(most, data.waiting.reduce((sum, series) => sum + series.average[i], data.average_running[i]));
  });
  const describe = (scene, t) => {
    const width = (scene.view.x[1] - scene.view.x[0]) / (scene.right - scene.left);
    const at = stretchAt(data.t_ns, t);
    const [from, to] = [data.t_ns[at], data.t_ns[at + 1] ?? data.duration_ns];
    const sum = to - from >= width ? sumUp(data, from, to) : sumUp(data, Math.max(0, t - width / 2), Math.min(data.duration_ns, t + width / 2));
    const spread = sum.max > sum.min ? ` (${sum.min} to ${sum.max})` : "";
    const number = v => Number.isInteger(v) ? v : v.toFixed(2);
    const rows = [{ color: "running", name: "running", value: `${number(sum.running)}${spread}` }];
    data.waiting.forEach((series, i) => {
      if (sum.waiting[i] > 0) rows.push({ color: series.cause, name: series.cause, value: number(sum.waiting[i]) });
    });
    return { title: timeRange(sum.from, sum.to), rows, px: scene.x(t) };
  };
  return new Plot(target, {
    label: "Running and waiting contexts over time", height: 320, zoom: "x", least: Math.min(data.duration_ns, 100), legend,
    x: { domain: [0, data.duration_ns], label: "time", ticks: timeTicks },
    y: { domain: [0, most * 1.04], label: "contexts", ticks: (a, b, n) => ticks(a, b, n, true).map(value => ({ value, label: String(value) })) },
    draw(scene) {
      const drawn = cells(data, scene.view.x, Math.round(scene.right - scene.left));
      let bottoms = drawn.map(() => 0);
      const layers = [drawn.map(c => c.running), ...data.waiting.map((_, i) => drawn.map(c => c.waiting[i]))];
      layers.forEach((heights, i) => {
        if (!legend[i].on) return;
        const tops = heights.map((h, at) => h + bottoms[at]);
        scene.layer.append(svg("path", { d: steppedArea(scene, drawn, bottoms, tops), fill: `var(--${legend[i].color})`, opacity: i ? 0.75 : 1 }));
        bottoms = tops;
      });
      if (legend[0].on && drawn.some(c => c.max > c.running + 0.01)) {
        const points = drawn.map(c => `${scene.x(c.from).toFixed(1)},${scene.y(c.max).toFixed(1)} ${scene.x(c.to).toFixed(1)},${scene.y(c.max).toFixed(1)}`);
        scene.layer.append(svg("path", { class: "peak", d: `M${points.join("L")}` }));
      }
      const average = scene.y(data.average);
      scene.layer.append(svg("line", { class: "level", x1: scene.left, x2: scene.right, y1: average, y2: average }));
    },
    locate: (scene, px) => px < scene.left || px > scene.right ? null
      : scene.view.x[0] + (px - scene.left) / (scene.right - scene.left) * (scene.view.x[1] - scene.view.x[0]),
    move(scene, t, dx) {
      const [low, high] = scene.view.x;
      if (t === null) return (low + high) / 2;
      return Math.min(high, Math.max(low, t + dx * (high - low) / (scene.right - scene.left) * 4));
    },
    describe,
  });
}

function drawPotential(target, data) {
  if (data.potential.length === 0) return empty(target, "No task has a duration: there is no schedule to show.");
  const starts = data.potential.map(point => point[0]);
  const ends = [...starts.slice(1), data.span_ns];
  const heights = data.potential.map(point => point[1]);
  const all = starts.map((from, i) => ({ from, to: ends[i] }));
  return new Plot(target, {
    label: "Tasks at once in the schedule that starts every task as soon as it can", height: 190, zoom: "x", least: Math.min(data.span_ns, 100),
    legend: [{ color: "running", name: "tasks at once" }],
    x: { domain: [0, data.span_ns], label: "time on unlimited processors", ticks: timeTicks },
    y: {
      domain: [0, Math.max(1, ...heights) * 1.04], label: "tasks",
      ticks: (a, b, n) => ticks(a, b, Math.min(n, 4), true).map(value => ({ value, label: format.big(value) })),
    },
    draw(scene) {
      const [low, high] = scene.view.x;
      const seen = all.map((c, i) => ({ from: Math.max(low, c.from), to: Math.min(high, c.to), height: heights[i] })).filter(c => c.to > c.from);
      const d = steppedArea(scene, seen, seen.map(() => 0), seen.map(c => c.height));
      scene.layer.append(svg("path", { d, fill: "var(--running)" }));
    },
    locate: (scene, px) => px < scene.left || px > scene.right ? null
      : stretchAt(starts, scene.view.x[0] + (px - scene.left) / (scene.right - scene.left) * (scene.view.x[1] - scene.view.x[0])),
    move: (scene, at, dx) => at === null ? stretchAt(starts, scene.view.x[0]) : Math.min(starts.length - 1, Math.max(0, at + dx)),
    describe: (scene, at) => ({
      title: timeRange(starts[at], ends[at]),
      rows: [{ color: "running", name: "tasks at once", value: heights[at].toFixed(2) }],
      px: scene.x((starts[at] + ends[at]) / 2),
    }),
  });
}
