-- Sieve, string building, closures, tables with holes, and a queens search, N times.
local times, check = tonumber(arg[1]) or 1, 0
local function queens(n, row, cols, up, down)
  if row > n then return 1 end
  local found = 0
  for c = 1, n do
    if not cols[c] and not up[row + c] and not down[row - c + n] then
      cols[c], up[row + c], down[row - c + n] = true, true, true
      found = found + queens(n, row + 1, cols, up, down)
      cols[c], up[row + c], down[row - c + n] = nil, nil, nil
    end
  end
  return found
end
for round = 1, times do
  local sieve = {}
  for i = 2, 4000 do
    if sieve[i] == nil then
      for j = i * i, 4000, i do sieve[j] = false end
      check = check + i
    end
  end
  local parts = {}
  for i = 1, 500 do parts[#parts + 1] = string.format("%d:%s", i, ("x"):rep(i % 7)) end
  check = check + #table.concat(parts, ",") + #table.concat(parts):gsub("x+", "y")
  local functions = {}
  for i = 1, 200 do functions[i] = function(v) return v * i + round end end
  for i = 1, 200 do check = (check + functions[i](i)) % 1000003 end
  check = check + queens(6, 1, {}, {}, {})
end
print(check)
