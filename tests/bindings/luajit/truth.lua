-- Writes what LuaJIT itself says of its traces to $LUAJIT_TRUTH, in lines of JSON that do not come
-- from the module under test:
--
--     luajit -l truth -l jitdump prog.lua
--
-- LuaJIT has one handler for each event; here each gets several.

jit.off(true, true)

local ffi = require("ffi")
local jutil = require("jit.util")

ffi.cdef [[
struct truth_time { long seconds, nanoseconds; };
int clock_gettime(int clock, struct truth_time *time);
int getpid(void);
]]
local CLOCK_MONOTONIC = 1

local log = assert(io.open(os.getenv("LUAJIT_TRUTH"), "w"))
local time = ffi.new("struct truth_time")

local function now()
    ffi.C.clock_gettime(CLOCK_MONOTONIC, time)
    return ("%d%09d"):format(tonumber(time.seconds), tonumber(time.nanoseconds))
end

local handlers = { trace = {}, record = {} }
for event, list in pairs(handlers) do
    local function all(...)
        for _, handler in ipairs(list) do handler(...) end
    end
    jit.off(all)
    jit.attach(all, event)
end
function jit.attach(handler, event)
    if event then table.insert(handlers[event], handler) end
end

local start, lines

local function record(trace, func, pc)
    if pc >= 0 then
        lines[jutil.funcinfo(func, pc).currentline] = true
    end
end

local function on_trace(event, trace, func, pc)
    if event == "start" then
        start, lines = jutil.funcinfo(func, pc), { [jutil.funcinfo(func, pc).currentline] = true }
    elseif event == "stop" then
        local numbers = {}
        for line in pairs(lines) do numbers[#numbers + 1] = line end
        local mcode, addr = jutil.tracemc(trace)
        log:write(('{"trace": %d, "since": %s, "addr": %.0f, "size": %d, "loc": "%s", ' ..
                   '"linedefined": %d, "lines": [%s]}\n'):format(trace, now(), addr, #mcode,
            start.loc, start.linedefined, table.concat(numbers, ", ")))
    else
        log:write(('{"event": "%s"}\n'):format(event))
    end
end

table.insert(handlers.trace, on_trace)
table.insert(handlers.record, record)
log:write(('{"pid": %d}\n'):format(ffi.C.getpid()))
