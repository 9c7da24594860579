-- Compiles some thousand traces and has them forgotten: by jit.flush(), every tenth round, and
-- by LuaJIT, when there is no room for more machine code. Some are aborted.
local ROUNDS = 20

jit.opt.start("maxmcode=64", "hotloop=2", "hotexit=2")

local text = [[
local function made(n)
    local sum = 0
    for i = 1, n do
        sum = sum + i / 3
        if i % 100 == 7 then
            sum = sum - 1
        end
    end
    return sum
end
return made
]]

local sum = 0
for round = 1, ROUNDS do
    for i = 1, 60 do
        local made = loadstring(text, ("@made%d.lua"):format(round * 100 + i))()
        sum = sum + made(250000)
    end
    if round % 10 == 0 then
        jit.flush()
    end
    pcall(function()
        for i = 1, 100 do
            if i == 50 then error("aborts what is being recorded") end
        end
    end)
end
print(("%.3f"):format(sum))
