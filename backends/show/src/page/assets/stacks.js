// Bars of parts on each other; parts below zero hang below the line.

function drawStacks(target, chart) {
  const parts = chart.parts.map(p => ({ ...p, color: colorOf(p.name), on: true })).filter(p => p.values.some(v => v !== 0));
  const n = chart.names.length;
  if (n === 0 || parts.length === 0) return empty(target, `${chart.title}: nothing was measured.`);
  const sums = i => {
    let [up, down] = [0, 0];
    for (const p of parts) if (p.on) { if (p.values[i] > 0) up += p.values[i]; else down += p.values[i]; }
    return [down, up];
  };
  const range = () => {
    const all = chart.names.map((_, i) => sums(i));
    return [Math.min(0, ...all.map(s => s[0])) * 1.05, Math.max(...all.map(s => s[1]), 1e-9) * 1.05];
  };
  const names = (a, b, count) => cellTicks(a, b, count, n, i => clip(chart.names[i], n > 8 ? 10 : 24));
  return new Plot(target, {
    label: chart.title, height: 300, zoom: "x", least: 1, legend: parts, left: 70,
    x: { domain: [0, n], label: chart.x, ticks: names },
    y: { domain: range(), visible: range, label: chart.y.label, ticks: axisTicks(chart.y) },
    draw(scene) {
      const width = scene.x(1) - scene.x(0);
      const bar = Math.min(width * 0.72, 90);
      for (let i = Math.floor(scene.view.x[0]); i < Math.min(n, Math.ceil(scene.view.x[1])); i += 1) {
        let [up, down] = [0, 0];
        const left = scene.x(i + 0.5) - bar / 2;
        for (const p of parts) {
          const v = p.values[i];
          if (!p.on || v === 0) continue;
          const from = v > 0 ? up : down;
          if (v > 0) up += v; else down += v;
          const [top, bottom] = [scene.y(Math.max(from, from + v)), scene.y(Math.min(from, from + v))];
          scene.layer.append(svg("rect", { x: left.toFixed(1), y: top.toFixed(1), width: bar.toFixed(1), height: Math.max(0.5, bottom - top).toFixed(1), fill: `var(--${p.color})`, opacity: v > 0 ? 0.92 : 0.5 }));
        }
      }
      if (scene.y(0) < scene.bottom - 1) scene.layer.append(svg("line", { class: "level", x1: scene.left, x2: scene.right, y1: scene.y(0), y2: scene.y(0) }));
    },
    locate: (scene, px) => {
      const [low, high] = scene.view.x;
      const i = Math.floor(low + (px - scene.left) / (scene.right - scene.left) * (high - low));
      return px >= scene.left && i >= 0 && i < n ? i : null;
    },
    move: (scene, i, dx) => i === null ? 0 : Math.max(0, Math.min(n - 1, i + dx)),
    describe: (scene, i) => ({
      title: `${chart.names[i]} (${chart.x})`, px: scene.x(i + 0.5),
      rows: parts.filter(p => p.on).map(p => ({ color: p.color, name: p.name, value: show(chart.y.unit, p.values[i]) })).reverse(),
    }),
  });
}
