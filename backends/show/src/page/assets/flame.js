// Flame graphs of the same calling contexts, side by side: a box is as wide as what it has with all the boxes on it.
// A click or the Enter key zooms into a box in all graphs; the box at the bottom leads back.

const FLAME_ROW = 19;
const FLAME_COLORS = 6;

function drawFlames(target, chart) {
  const graphs = chart.names.map((name, g) => ({ name, g, total: chart.boxes.map(box => box.own[g]) }));
  for (const { total } of graphs) for (let i = chart.boxes.length - 1; i > 0; i -= 1) total[chart.boxes[i].parent] += total[i];
  if (chart.boxes.length === 0 || graphs.every(({ total }) => total[0] === 0)) return empty(target, `${chart.title}: nothing was recorded.`);
  const children = chart.boxes.map(() => []);
  chart.boxes.forEach((box, i) => { if (i > 0) children[box.parent].push(i); });
  const color = name => [...name].reduce((hash, c) => (hash * 31 + c.codePointAt(0)) >>> 0, 7) % FLAME_COLORS;
  const read = html("p", { class: "quiet flame-read", "aria-live": "polite" }, "A click zooms into a box, in both graphs.");
  const frames = graphs.map(({ name }) => html("div", null, html("h4", null, name), html("div", { class: "flames" })));
  target.replaceChildren(html("div", { class: "columns" }, frames), read);
  let root = 0;
  const words = i => {
    const box = chart.boxes[i];
    const values = graphs.map(({ name, total, g }) => `${name} ${show(chart.unit, total[i])} (${format.percent(total[0] ? total[i] / total[0] : 0)}), own ${show(chart.unit, box.own[g])}`);
    return `${box.name}${box.place ? ` at ${box.place}` : ""}: ${values.join("; ")}`;
  };
  const fill = () => graphs.forEach(({ total }, at) => {
    const rows = [];
    const place = (i, left, depth) => {
      const width = total[root] ? total[i] / total[root] : 0;
      if (width < 0.002) return;
      (rows[depth] ??= []).push({ i, left, width });
      let next = left;
      for (const child of [...children[i]].sort((a, b) => total[b] - total[a])) {
        place(child, next, depth + 1);
        next += total[root] ? total[child] / total[root] : 0;
      }
    };
    const path = [];
    for (let i = root; i !== 0;) path.unshift(i = chart.boxes[i].parent);
    path.forEach((i, depth) => { rows[depth] = [{ i, left: 0, width: 1, below: true }]; });
    place(root, 0, path.length);
    const boxes = rows.flatMap((row, depth) => row.map(({ i, left, width, below }) => {
      const zoom = () => { root = i === root && i !== 0 ? chart.boxes[i].parent : i; fill(); };
      const tell = () => { read.textContent = words(i); };
      return html("button", {
        type: "button", class: below ? "below" : null, title: words(i), onclick: zoom, onmouseenter: tell, onfocus: tell,
        style: `left: ${(left * 100).toFixed(3)}%; width: ${(width * 100).toFixed(3)}%; bottom: ${depth * FLAME_ROW}px; background: var(--f${color(chart.boxes[i].name)})`,
      }, chart.boxes[i].name);
    }));
    const frame = frames[at].lastChild;
    frame.style.height = `${Math.max(2, rows.length) * FLAME_ROW}px`;
    frame.replaceChildren(...(total[root] ? boxes : [html("p", { class: "empty" }, "Nothing of it here.")]));
  });
  fill();
}
