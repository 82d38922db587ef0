// The frame all plots share: axes, hover, zoom by drag or wheel, keyboard, legend. A plot gives a `spec`:
//   label            what it shows, for screen readers
//   height           pixels
//   x, y             { domain: [low, high], label, ticks(low, high, count), visible(view)?: domain for the view }
//   zoom             "x" or "y": the axis that zooms; `least`: the shortest range
//   legend           [{ color, name, on? }]; with `on` an entry can be switched off
//   draw(scene)      draws into scene.layer with scene.x, scene.y (value -> pixel), scene.view
//   locate(scene, px, py) -> cursor or null;  move(scene, cursor, dx, dy) -> cursor;
//   describe(scene, cursor) -> { title, rows: [{ color, name, value }], px, py, box? }
//   open(cursor)?    what a click or Enter does;  zoomed(range or null)?  told after each zoom

class Plot {
  constructor(target, spec) {
    this.spec = spec;
    this.full = [...spec[spec.zoom].domain];
    this.range = [...this.full];
    this.cursor = null;
    this.legend = html("span");
    this.reset = html("button", { type: "button", hidden: "", onclick: () => this.show(this.full) }, "Reset zoom");
    this.svg = svg("svg", { tabindex: 0, role: "application", "aria-roledescription": "interactive plot", "aria-label": spec.label });
    this.tip = html("div", { class: "tip", hidden: "", role: "status", "aria-live": "polite" });
    this.frame = html("div", { class: "plot" }, html("div", { class: "tools" }, this.legend, this.reset), this.svg, this.tip);
    target.replaceChildren(this.frame);
    this.drawLegend();
    this.listen();
    this.width = 0;
    if (this.frame.clientWidth > 0) this.draw();
    // Drawing within the observer would change sizes it observes; a frame later is soon enough.
    new ResizeObserver(() => {
      if (this.frame.clientWidth !== this.width) requestAnimationFrame(() => this.draw());
    }).observe(this.frame);
  }

  drawLegend() {
    const entry = e => {
      if (e.on === undefined) return html("span", { class: "key" }, swatch(e.color), e.name);
      const toggle = () => { e.on = !e.on; this.drawLegend(); this.draw(); };
      return html("button", { type: "button", class: "key", "aria-pressed": String(e.on), title: STATES.get(e.name)?.doc, onclick: toggle }, swatch(e.color), e.name);
    };
    this.legend.replaceChildren(...(this.spec.legend ?? []).map(entry));
  }

  listen() {
    const at = event => {
      const box = this.svg.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let from = null;
    this.svg.addEventListener("pointerdown", event => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      from = this.along(at(event));
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", event => {
      if (from !== null) this.select(from, this.along(at(event)));
      else this.point(this.spec.locate(this.scene, ...at(event)));
    });
    this.svg.addEventListener("pointerup", event => {
      if (from === null) return;
      const [a, b] = [from, this.along(at(event))].sort((p, q) => p - q);
      from = null;
      this.select(0, 0);
      if (b - a > 4) this.show(this.values(a, b));
      else if (this.cursor !== null) this.spec.open?.(this.cursor);
    });
    this.svg.addEventListener("pointerleave", () => { if (from === null) this.point(null); });
    this.svg.addEventListener("dblclick", () => this.show(this.full));
    this.svg.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const p = this.along(at(event));
      this.scale(event.deltaY < 0 ? 0.8 : 1.25, this.values(p, p)[0]);
    }, { passive: false });
    this.svg.addEventListener("keydown", event => this.key(event));
    this.svg.addEventListener("blur", () => this.point(null));
  }

  key(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    const middle = this.cursorValue();
    if (arrow && event.shiftKey) this.pan(this.spec.zoom === "x" ? arrow[0] : arrow[1]);
    else if (arrow) this.point(this.spec.move(this.scene, this.cursor, ...arrow));
    else if (event.key === "+" || event.key === "=") this.scale(0.5, middle);
    else if (event.key === "-") this.scale(2, middle);
    else if (event.key === "0" || event.key === "Home") this.show(this.full);
    else if (event.key === "Escape") this.point(null);
    else if (event.key === "Enter" && this.cursor !== null) this.spec.open?.(this.cursor);
    else return;
    event.preventDefault();
  }

  // Pixel position along the zooming axis, within the plot.
  along([px, py]) {
    const { left, right, top, bottom } = this.scene;
    return this.spec.zoom === "x" ? Math.min(right, Math.max(left, px)) : Math.min(bottom, Math.max(top, py));
  }

  values(a, b) {
    const { left, right, top, bottom } = this.scene;
    const [start, length] = this.spec.zoom === "x" ? [left, right - left] : [top, bottom - top];
    const value = p => this.range[0] + (p - start) / length * (this.range[1] - this.range[0]);
    return [value(a), value(b)];
  }

  cursorValue() {
    if (this.cursor === null) return (this.range[0] + this.range[1]) / 2;
    const at = this.spec.describe(this.scene, this.cursor);
    const p = this.spec.zoom === "x" ? at.px : at.py;
    return this.values(p, p)[0];
  }

  scale(factor, around) {
    this.show(this.range.map(end => around + (end - around) * factor));
  }

  pan(direction) {
    const by = direction * (this.range[1] - this.range[0]) / 4;
    const room = Math.min(Math.max(by, this.full[0] - this.range[0]), this.full[1] - this.range[1]);
    this.show(this.range.map(end => end + room));
  }

  show([low, high]) {
    const least = this.spec.least ?? 0;
    if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
    this.range = [Math.max(this.full[0], low), Math.min(this.full[1], high)];
    this.reset.hidden = this.range[0] === this.full[0] && this.range[1] === this.full[1];
    this.draw();
    this.spec.zoomed?.(this.reset.hidden ? null : this.range);
  }

  draw() {
    const width = this.frame.clientWidth;
    this.width = width;
    if (width < 120) return;
    const { spec } = this;
    const margin = { left: Math.min(spec.left ?? 52, width / 4), right: width < 500 ? 12 : 30, top: 8, bottom: spec.x.label ? 42 : 24 };
    const scene = {
      left: margin.left, right: width - margin.right, top: margin.top, bottom: spec.height - margin.bottom,
      layer: svg("g"), width, view: null,
    };
    const domain = axis => spec.zoom === axis ? this.range : spec[axis].visible?.(this.range) ?? spec[axis].domain;
    scene.view = { x: domain("x"), y: domain("y") };
    const linear = ([low, high], from, to) => v => from + (high > low ? (v - low) / (high - low) : 0.5) * (to - from);
    scene.x = linear(scene.view.x, scene.left, scene.right);
    scene.y = spec.y.down ? linear(scene.view.y, scene.top, scene.bottom) : linear(scene.view.y, scene.bottom, scene.top);
    this.scene = scene;
    this.overlay = svg("g", { "aria-hidden": "true" });
    this.selection = svg("rect", { class: "selection", width: 0, height: 0 });
    spec.draw(scene);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${spec.height}`);
    this.svg.setAttribute("height", spec.height);
    this.svg.replaceChildren(this.axes(scene), scene.layer, this.overlay, this.selection);
    this.point(this.cursor);
  }

  axes(scene) {
    const { spec } = this;
    const group = svg("g", { "aria-hidden": "true" });
    const { left, right, top, bottom } = scene;
    for (const tick of spec.x.ticks(...scene.view.x, Math.max(2, (right - left) / 90))) {
      const x = Math.round(scene.x(tick.value));
      if (spec.x.grid !== false) group.append(svg("line", { class: "grid", x1: x, x2: x, y1: top, y2: bottom }));
      group.append(svg("text", { x, y: bottom + 15, "text-anchor": "middle" }, tick.label));
    }
    for (const tick of spec.y.ticks(...scene.view.y, Math.max(2, (bottom - top) / 42))) {
      const y = Math.round(scene.y(tick.value));
      if (spec.y.grid !== false) group.append(svg("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }));
      group.append(svg("text", { x: left - 7, y: y + 3.5, "text-anchor": "end" }, tick.label));
    }
    group.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
    if (spec.x.label) group.append(svg("text", { class: "axis-label", x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle" }, spec.x.label));
    const middle = (top + bottom) / 2;
    if (spec.y.label) group.append(svg("text", { class: "axis-label", "text-anchor": "middle", transform: `translate(12 ${middle}) rotate(-90)` }, spec.y.label));
    return group;
  }

  select(a, b) {
    const { left, right, top, bottom } = this.scene;
    const [low, length] = [Math.min(a, b), Math.abs(b - a)];
    const box = this.spec.zoom === "x"
      ? { x: low, width: length, y: top, height: bottom - top }
      : { y: low, height: length, x: left, width: right - left };
    for (const [name, value] of Object.entries(box)) this.selection.setAttribute(name, value);
  }

  point(cursor) {
    const { left, right, top, bottom, width } = this.scene;
    let at = cursor === null ? null : this.spec.describe(this.scene, cursor);
    // Zooming can move the place out of sight.
    if (at && (at.px < left - 1 || at.px > right + 1 || at.py < top - 1 || at.py > bottom + 1)) at = null;
    this.cursor = at ? cursor : null;
    this.overlay.replaceChildren();
    this.tip.hidden = !at;
    if (!at) return;
    const { title, rows, px, py, box } = at;
    if (box) this.overlay.append(svg("rect", { class: "cursor", ...box }));
    else this.overlay.append(svg("line", { class: "cursor", x1: px, x2: px, y1: top, y2: bottom }));
    if (py !== undefined && !box) this.overlay.append(svg("circle", { class: "cursor", cx: px, cy: py, r: 5 }));
    const line = row => [row.color ? swatch(row.color) : html("span"), html("span", null, row.name), html("b", null, row.value)];
    this.tip.replaceChildren(html("strong", null, title), html("div", null, rows.flatMap(line)));
    const offset = this.svg.getBoundingClientRect().top - this.frame.getBoundingClientRect().top;
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${px + 16 + wide > width ? Math.max(0, px - 16 - wide) : px + 16}px`;
    this.tip.style.top = `${offset + Math.max(0, Math.min((py ?? top + 10) - 10, bottom - this.tip.offsetHeight))}px`;
  }
}
