-- Closures, tables, strings, garbage, coroutines, a finalizer and an error.
local words, n = {}, 0
for i = 1, 20000 do
  local w = string.rep(string.char(97 + i % 26), i % 17) .. i % 900
  words[w] = (words[w] or 0) + 1
end
local keys = {}
for k in pairs(words) do keys[#keys + 1] = k end
table.sort(keys)
for i = 1, #keys, 97 do print(keys[i], words[keys[i]]) end
local function tree(d) if d == 0 then return {} end return {tree(d - 1), tree(d - 1)} end
local function count(t) if not t[1] then return 1 end return 1 + count(t[1]) + count(t[2]) end
for d = 4, 14, 2 do print(d, count(tree(d))) end
local gen = coroutine.wrap(function() for i = 1, 1000 do coroutine.yield(i * i) end end)
local sum = 0
for i = 1, 1000 do sum = sum + gen() end
print(sum)
print(#table.concat(keys, ","), ("x"):rep(100000):gsub("x", "yz"):len())
setmetatable({}, {__gc = function() print("collected") end})
collectgarbage()
print(pcall(error, {code = 1}) , select(2, pcall(string.rep, "x", 1 << 40)))
