// Numbers for people, and round ticks for axes.

const format = {
  count(n) {
    return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
  },
  digits(value) {
    return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
  },
  time(ns) {
    if (ns < 1e3) return `${Math.round(ns)} ns`;
    if (ns < 1e6) return `${format.digits(ns / 1e3)} µs`;
    if (ns < 1e9) return `${format.digits(ns / 1e6)} ms`;
    return `${format.digits(ns / 1e9)} s`;
  },
  bytes(n) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    while (n >= 1024 && unit < units.length - 1) { n /= 1024; unit += 1; }
    return unit === 0 ? `${n} B` : `${format.digits(n)} ${units[unit]}`;
  },
  size(n) {
    for (const [unit, bytes] of [["G", 2 ** 30], ["M", 2 ** 20], ["K", 2 ** 10]]) {
      if (n >= bytes) return `${+(n / bytes).toFixed(2)}${unit}`;
    }
    return `${Math.round(n)}`;
  },
  percent(share) {
    const p = share * 100;
    if (p === 0) return "0%";
    if (p < 0.01) return "<0.01%";
    return `${p < 1 ? p.toFixed(2) : p < 10 ? p.toFixed(1) : p.toFixed(0)}%`;
  },
  // A sentence that was written for a terminal.
  words(text) {
    return text.replace(/(\d) us\b/g, "$1 µs");
  },
  big(n) {
    for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
      if (n >= size) return `${+(n / size).toPrecision(3)}${unit}`;
    }
    return `${n}`;
  },
  place(at) {
    const file = at.file.split("/").pop();
    if (!file) return at.function || "?";
    return at.line ? `${file}:${at.line}` : file;
  },
};

// About `count` round values within [low, high]: 1, 2 or 5 times a power of ten; integers only if asked.
function ticks(low, high, count, integer = false) {
  if (!(high > low)) return [low];
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw * 0.999);
  if (integer) step = Math.max(1, Math.round(step));
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) values.push(i * step);
  return values;
}

function unitOfTime(ns) {
  return ns < 1e3 ? ["ns", 1] : ns < 1e6 ? ["µs", 1e3] : ns < 1e9 ? ["ms", 1e6] : ["s", 1e9];
}

// `12.31 – 12.38 ms`: as many decimals as tell the two apart.
function timeRange(from, to) {
  const [unit, scale] = unitOfTime(to);
  const decimals = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(Math.max(1, to - from) / scale))));
  return `${(from / scale).toFixed(unit === "ns" ? 0 : decimals)} – ${(to / scale).toFixed(unit === "ns" ? 0 : decimals)} ${unit}`;
}

// Labels for ticks of time: one unit for all of them, as many decimals as the step needs.
function timeTicks(low, high, count) {
  const [unit, scale] = unitOfTime(high);
  const values = ticks(low / scale, high / scale, count);
  const step = values.length > 1 ? values[1] - values[0] : 1;
  const decimals = Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return values.map(value => ({ value: value * scale, label: `${value.toFixed(decimals)} ${unit}` }));
}

// Ticks of a logarithmic axis whose domain is in powers of ten: 1, 2, 5 of each decade while there is room.
function logTicks(low, high, count) {
  const decades = Math.ceil((high - low) / count);
  const list = [];
  for (let power = Math.floor(low); power <= high; power += 1) {
    for (const digit of (high - low) * 3 <= count ? [1, 2, 5] : power % decades === 0 ? [1] : []) {
      const value = power + Math.log10(digit);
      if (value >= low && value <= high && power >= 0) list.push({ value, label: format.big(digit * 10 ** power) });
    }
  }
  return list;
}
