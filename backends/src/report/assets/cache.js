// Miss curves: miss rate against cache size, one line per number of ways.

function drawMisses(target, data) {
  const points = data.points.filter(point => point.accesses > 0);
  if (points.length === 0) return empty(target, "No memory access was recorded.");
  const ways = [...new Set(points.map(point => point.ways))];
  const name = w => w === "full" ? "fully associative" : w === 1 ? "direct-mapped" : `${w} ways`;
  const series = ways.map((w, i) => ({
    color: `w${i % 8}`, name: name(w), on: true,
    points: points.filter(point => point.ways === w).map(p => ({ x: Math.log2(p.size), rate: p.misses / p.accesses, misses: p.misses })),
  }));
  const sizes = [...new Set(points.map(point => Math.log2(point.size)))].sort((a, b) => a - b);
  const [low, high] = [sizes[0], sizes[sizes.length - 1]];
  const nearest = x => sizes.reduce((best, size) => Math.abs(size - x) < Math.abs(best - x) ? size : best);
  const top = ([a, b]) => {
    const seen = series.filter(s => s.on).flatMap(s => s.points).filter(p => p.x >= a - 0.5 && p.x <= b + 0.5);
    return Math.max(1e-6, ...seen.map(p => p.rate)) * 1.06;
  };
  return new Plot(target, {
    label: "Cache miss rate against cache size for each associativity", height: 360, zoom: "x", least: 2, legend: series, left: 60,
    x: {
      domain: low === high ? [low - 1, high + 1] : [low, high], label: "cache size (log2)",
      ticks: (a, b, n) => {
        const step = Math.max(1, Math.ceil((b - a) / n));
        const list = [];
        for (let i = Math.ceil(a); i <= b + 1e-9; i += step) list.push({ value: i, label: format.size(2 ** i) });
        return list;
      },
    },
    y: {
      domain: [0, 1], visible: view => [0, top(view)], label: "miss rate",
      ticks: (a, b, n) => {
        const values = ticks(a * 100, b * 100, n);
        const step = values.length > 1 ? values[1] - values[0] : 1;
        const decimals = Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
        return values.map(value => ({ value: value / 100, label: `${value.toFixed(decimals)}%` }));
      },
    },
    draw(scene) {
      const clip = svg("clipPath", { id: "misses-clip" }, svg("rect", { x: scene.left - 5, y: 0, width: scene.right - scene.left + 10, height: scene.bottom + 5 }));
      const curves = svg("g", { "clip-path": "url(#misses-clip)" });
      for (const s of series.filter(s => s.on)) {
        const at = s.points.map(p => [scene.x(p.x).toFixed(1), scene.y(p.rate).toFixed(1)]);
        curves.append(svg("path", { class: "curve", d: `M${at.map(p => p.join(",")).join("L")}`, stroke: `var(--${s.color})` }));
        for (const [cx, cy] of at) curves.append(svg("circle", { cx, cy, r: 3, fill: `var(--${s.color})` }));
      }
      scene.layer.append(clip, curves);
    },
    locate: (scene, px) => px < scene.left - 8 || px > scene.right + 8 ? null
      : nearest(scene.view.x[0] + (px - scene.left) / (scene.right - scene.left) * (scene.view.x[1] - scene.view.x[0])),
    move(scene, x, dx) {
      if (x === null) return nearest(scene.view.x[0]);
      return sizes[Math.max(0, Math.min(sizes.length - 1, sizes.indexOf(x) + dx))];
    },
    describe(scene, x) {
      const found = series.filter(s => s.on).map(s => ({ s, p: s.points.find(p => p.x === x) })).filter(e => e.p);
      const rows = found.map(({ s, p }) => ({ color: s.color, name: s.name, value: `${(p.rate * 100).toFixed(3)}% (${format.count(p.misses)})` }));
      return { title: format.size(2 ** x), rows, px: scene.x(x) };
    },
  });
}
