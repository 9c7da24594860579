-- Makes the machine code that LuaJIT compiles visible in perf and samply:
--
--     luajit -l jitdump prog.lua
--
-- Each trace gets a name, "advance@nbody.lua:24 trace 7", and its source lines. The dump is
-- written to $JITDUMPDIR, or to the current directory.

jit.off(true, true) -- the compiler's reporter is not compiled itself

local ffi = require("ffi")
local jutil = require("jit.util")
local trace_lines = require("jitdump_lines")
local funcinfo, traceinfo = jutil.funcinfo, jutil.traceinfo
local tracemc, traceexitstub = jutil.tracemc, jutil.traceexitstub

-- From jitdump.h of the ABI that the soname below stands for. Structs that are never filled in
-- here are pointers to void.
ffi.cdef [[
struct jitdump;

struct jitdump_options {
    uint32_t struct_size;
    uint32_t flags;
    uint32_t clock;
    uint32_t flush_mode;
    uint32_t elf_mach;
    uint32_t dialect;
    uint64_t flush_bytes;
    uint64_t flush_interval_ns;
    uint64_t size_limit;
    const char *directory;
    char *error_message;
    uint64_t error_message_size;
    const char *track;
    uint64_t descriptor;
};

struct jitdump_line {
    uint64_t code_addr;
    uint32_t line;
    uint32_t column;
    const char *file;
};

struct jitdump_code {
    uint32_t struct_size;
    uint32_t tier;
    const char *name;
    uint64_t code_addr;
    uint64_t code_size;
    const void *code_bytes;
    const struct jitdump_line *lines;
    uint64_t line_count;
    const void *eh_frame;
    uint64_t eh_frame_size;
    const void *eh_frame_hdr;
    uint64_t eh_frame_hdr_size;
    const void *unwind;
    const void *tracks;
    uint64_t track_count;
    uint64_t eh_frame_addr;
    uint64_t name_size;
    const struct jitdump_line_row *line_rows;
    uint64_t line_row_count;
    const struct jitdump_string *files;
    uint64_t file_count;
};

int jitdump_open(struct jitdump **dump, const struct jitdump_options *options);
int jitdump_close(struct jitdump *dump);
int jitdump_load(struct jitdump *dump, const struct jitdump_code *code, uint64_t *code_index);
const char *jitdump_strerror(int error);
]]
local library = ffi.load("libjitdump.so.0.2")
local FLUSH_MODES = { ["write-through"] = 0, buffered = 1, background = 2 }

local function open()
    local mode = os.getenv("JITDUMP_FLUSH") or "write-through"
    local handle = ffi.new("struct jitdump *[1]")
    local message = ffi.new("char[256]")
    local options = ffi.new("struct jitdump_options", {
        struct_size = ffi.sizeof("struct jitdump_options"),
        flush_mode = FLUSH_MODES[mode] or error("jitdump: no flush mode: " .. mode, 0),
        error_message = message,
        error_message_size = ffi.sizeof(message),
    })
    if library.jitdump_open(handle, options) ~= 0 then
        error("jitdump: " .. ffi.string(message), 0)
    end
    return handle[0]
end

local dump = open()
local detach

local function describe(name, addr, size, lines)
    local entries = ffi.new("struct jitdump_line[?]", #lines)
    for i, line in ipairs(lines) do
        local entry = entries[i - 1]
        entry.code_addr, entry.line, entry.file = addr + line.offset, line.line, line.file
    end
    local code = ffi.new("struct jitdump_code", {
        struct_size = ffi.sizeof("struct jitdump_code"),
        name = name,
        code_addr = addr,
        code_size = size,
        lines = entries,
        line_count = #lines,
    })
    local err = library.jitdump_load(dump, code, nil)
    if err ~= 0 then
        io.stderr:write("jitdump: ", ffi.string(library.jitdump_strerror(err)), "\n")
        detach()
    end
end

-- A trace is left through the stub of the exit that is taken. On x64 all traces share them: in
-- groups of 32, with a jump to the interpreter behind them, made when a trace needs them.
local STUBS_PER_GROUP, GROUP_SIZE = 32, ffi.abi("gc64") and 133 or 141
local stubs, stub_count = {}, 0 -- exits by address

local function describe_stubs(exits)
    while jit.arch == "x64" and stub_count < exits do
        describe("LuaJIT exit stubs", traceexitstub(stub_count), GROUP_SIZE, {})
        for exit = stub_count, stub_count + STUBS_PER_GROUP - 1 do
            stubs[traceexitstub(exit)] = exit
        end
        stub_count = stub_count + STUBS_PER_GROUP
    end
end

local trace_name -- of the one that is being recorded

local function on_start(func, pc)
    local name = "anonymous"
    for level = 2, 5 do -- below this function and who calls it
        local running = debug.getinfo(level, "nSf")
        if running and running.func == func then
            name = running.name or running.what == "main" and "main" or name
            break
        end
    end
    trace_name = name .. "@" .. funcinfo(func, pc).loc
    trace_lines.start(func, pc)
end

-- The machine code is complete then, and has not run yet.
local function on_stop(trace)
    describe_stubs(traceinfo(trace).nexit)
    local mcode, addr, loop = tracemc(trace)
    describe(trace_name .. " trace " .. trace, addr, #mcode,
             trace_lines.lines(trace, mcode, addr, loop, stubs))
end

-- Nothing needs to be done for a trace that is aborted, nor for those that a flush frees: what
-- is described at their addresses later takes these over.
local function on_trace(event, trace, func, pc)
    if event == "start" then
        on_start(func, pc)
    elseif event == "stop" then
        on_stop(trace)
    elseif event == "flush" then
        stubs, stub_count = {}, 0
    end
end

function detach()
    jit.attach(on_trace)
    jit.attach(trace_lines.record)
end

-- Lua calls it at its end, before it unloads the library, whose userdata is older. os.exit()
-- does not: then the library flushes the dump by itself.
local closer = newproxy(true)
getmetatable(closer).__gc = function()
    detach()
    library.jitdump_close(dump)
end

jit.flush() -- traces that are there already would have no name
jit.attach(on_trace, "trace")
jit.attach(trace_lines.record, "record")

return { closer = closer }
