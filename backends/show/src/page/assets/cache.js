// Miss curves: miss rate against cache size, one line per number of ways.

function drawMisses(target, data) {
  const points = data.points.filter(point => point.accesses > 0);
  if (points.length === 0) return empty(target, "No memory access was recorded.");
  const name = w => w === "full" ? "fully associative" : w === 1 ? "direct-mapped" : `${w} ways`;
  const series = [...new Set(points.map(point => point.ways))].map(w => ({
    name: name(w),
    points: points.filter(point => point.ways === w).map(p => [p.size, p.misses / p.accesses, `${format.count(p.misses)} misses`]),
  }));
  return drawLines(target, {
    title: "Cache miss rate against cache size for each associativity", steps: false, series,
    x: { label: "cache size (log2)", unit: "bytes", scale: "log2" }, y: { label: "miss rate", unit: "share" },
  });
}
