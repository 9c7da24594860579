-- Says on standard error how many seconds of processor time go into the module, at its start and
-- in its handlers for LuaJIT's events: luajit -l handlers prog.lua

jit.off(true, true)

local clock, attach = os.clock, jit.attach
local begin, spent = clock(), 0

function jit.attach(handler, event)
    if not event then return end
    local function timed(...)
        local start = clock()
        handler(...)
        spent = spent + (clock() - start)
    end
    jit.off(timed)
    attach(timed, event)
end

require("jitdump")
spent = clock() - begin

local at_end = newproxy(true)
getmetatable(at_end).__gc = function()
    io.stderr:write(("%.6f\n"):format(spent))
end
return { at_end = at_end }
