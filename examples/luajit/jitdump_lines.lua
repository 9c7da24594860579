-- Which source lines the machine code of a trace comes from.
--
-- LuaJIT keeps no such table. What it tells is the bytecode that it records and the IR that comes
-- of it: so each IR instruction has a line. Some of these can be found in the machine code
-- (x64): guards by their jump to a trace exit, calls by their target, arithmetic and stores
-- of floating-point numbers by opcode and register. The code between two such places is taken
-- for the line of the second, for which it mostly prepares operands.
--
-- On other processors the whole trace has the line at which it starts.

jit.off(true, true) -- the compiler's reporter is not compiled itself

local ffi = require("ffi")
local bit = require("bit")
local jutil = require("jit.util")
local vmdef = require("jit.vmdef")
local band, rshift, tobit = bit.band, bit.rshift, bit.tobit
local byte, gmatch = string.byte, string.gmatch
local traceir, tracesnap, funcinfo = jutil.traceir, jutil.tracesnap, jutil.funcinfo

ffi.cdef [[
char *realpath(const char *path, char *resolved_path);
void free(void *memory);
]]

-- Numbers of IR instructions and addresses of the functions that they call, by name.
local IR, FUNCTIONS = {}, {}
for i = 0, #vmdef.irnames / 6 - 1 do
    IR[vmdef.irnames:sub(6 * i + 1, 6 * i + 6):match("%w+")] = i
end
for i = 0, #vmdef.ircall do
    FUNCTIONS[vmdef.ircall[i]] = jutil.ircalladdr(i)
end

-- Fields of what traceir() gives.
local GUARD, TYPE, OP_AND_TYPE = 0x80, 0x1f, 0xff1f -- of an instruction's op and type
local FLOAT, NUMBER = 13, 14 -- types
local COMMUTATIVE, KIND = 0x10, 0x60 -- of its mode; kind 0: depends on nothing but operands
local LOAD = 0x40 -- a kind
local LOAD_TO_STORE = (IR.ASTORE - IR.ALOAD) * 0x100 -- from an op to the other
local SINK, SUNK = 253, 254 -- registers of stores that are made at the exits alone

------------------------------------------------------------------------------------------------
-- What is recorded: from IR instruction refs[i] on, it is the bytecode at pcs[i] of funcs[i].

local refs, funcs, pcs, count, next_ref = {}, {}, {}, 0, 1

local function start(func, pc)
    refs, funcs, pcs, count, next_ref = { [0] = 0 }, { [0] = func }, { [0] = pc }, 0, 1
end

-- To be called before each bytecode instruction is recorded.
local function record(trace, func, pc)
    while traceir(trace, next_ref) do
        next_ref = next_ref + 1
    end
    if pc < 0 then return end -- a function that is not Lua: its caller's line
    if refs[count] ~= next_ref then
        count = count + 1
    end
    refs[count], funcs[count], pcs[count] = next_ref, func, pc
end

-- Paths as a profiler finds them. A chunk that is no file has the name that LuaJIT gives it.
local files = {}

local function file_of(func, source)
    local file = files[source]
    if not file then
        file = debug.getinfo(func, "S").short_src
        local path = source:sub(1, 1) == "@" and ffi.C.realpath(source:sub(2), nil)
        if path and path ~= nil then
            file = ffi.string(path)
            ffi.C.free(path)
        end
        files[source] = file
    end
    return file
end

local function line_of(func, pc)
    local info = funcinfo(func, pc)
    return { file = file_of(func, info.source), line = info.currentline }
end

------------------------------------------------------------------------------------------------
-- From IR to what was recorded: place[ref] is an index in refs.

local function read_ir(trace)
    local ir = { mode = {}, op = {}, left = {}, right = {}, register = {}, loop = nil }
    local ref = 1
    while true do
        local mode, op, left, right, register = traceir(trace, ref)
        if not mode then break end
        ir.mode[ref], ir.op[ref], ir.left[ref], ir.right[ref] = mode, op, left, right
        ir.register[ref] = band(register, 0xff)
        if rshift(op, 8) == IR.LOOP then
            ir.loop = ref
        end
        ref = ref + 1
    end
    return ir, ref - 1
end

-- What the stack's slots hold when the loop begins, where they have changed since the start.
local function slots_at_loop(snapshots)
    local slots, snapshot = {}, snapshots[#snapshots]
    for i = 2, #snapshot do
        slots[rshift(snapshot[i], 24)] = band(snapshot[i], 0xffff) - 0x8000
    end
    return slots
end

-- Behind the LOOP are copies of the instructions in front of it, in the same order. An
-- instruction on which the loop has no effect has no copy, and some are simplified, into another
-- instruction or several.
local function follow_copies(ir, last, slots, place)
    local copy = {} -- nil: unknown, which may be anything
    local known = {} -- the instructions in front of it, by what they do
    local stored = {} -- what they store, by where
    local function key(op, left, right)
        return (band(op, OP_AND_TYPE) * 0x10000 + band(left, 0xffff)) * 0x10000 +
               band(right, 0xffff)
    end
    for ref = ir.loop - 1, 1, -1 do
        local op, left, right = ir.op[ref], ir.left[ref], ir.right[ref]
        known[key(op, left, right)] = ref
        stored[key(op, left, 0)] = stored[key(op, left, 0)] or right
    end
    local expected = ir.loop + 1
    for ref = 1, ir.loop - 1 do
        local op, mode, left, right = ir.op[ref], ir.mode[ref], ir.left[ref], ir.right[ref]
        local new_left, new_right = left, right
        if band(mode, 3) == 0 and left > 0 then new_left = copy[left] end
        if band(mode, 12) == 0 and right > 0 then new_right = copy[right] end
        local same = new_left == left and new_right == right
        if rshift(op, 8) == IR.SLOAD then
            copy[ref] = slots[left] or ref
        elseif same and band(mode, KIND) == 0 then
            copy[ref] = ref
        else
            -- Far away only where it can't be mistaken.
            local reach = new_left and new_right and 32 or 2
            for candidate = expected, math.min(expected + reach, last) do
                local l, r = ir.left[candidate], ir.right[candidate]
                if band(ir.op[candidate], OP_AND_TYPE) == band(op, OP_AND_TYPE) and
                   ((new_left or l) == l and (new_right or r) == r or
                    band(mode, COMMUTATIVE) ~= 0 and
                    (new_left or r) == r and (new_right or l) == l) then
                    copy[ref], place[candidate] = candidate, place[ref]
                    expected = candidate + 1
                    break
                end
            end
            if not copy[ref] and new_left and new_right then
                copy[ref] = band(mode, KIND) == LOAD and
                            stored[key(op + LOAD_TO_STORE, new_left, 0)] or
                            same and ref or known[key(op, new_left, new_right)]
            end
        end
    end
    for ref = ir.loop + 1, last do
        place[ref] = place[ref] or place[ref - 1]
    end
end

local function places(ir, last, snapshots)
    local place, index = {}, 0
    for ref = 1, (ir.loop or last + 1) - 1 do
        while index < count and refs[index + 1] <= ref do
            index = index + 1
        end
        place[ref] = index
    end
    if ir.loop then
        place[ir.loop] = 0
        local front = {}
        for _, snapshot in ipairs(snapshots) do
            if snapshot[0] <= ir.loop then front[#front + 1] = snapshot end
        end
        follow_copies(ir, last, slots_at_loop(front), place)
    end
    return place
end

------------------------------------------------------------------------------------------------
-- From IR to machine code. Offsets are those behind an instruction.

-- SSE opcodes: F2 (double) or F3 (float), 0F and these.
local SSE_STORE, SSE_SQRT = 0x11, 0x51
local SSE = {
    [IR.ADD] = 0x58, [IR.MUL] = 0x59, [IR.SUB] = 0x5c, [IR.MIN] = 0x5d, [IR.DIV] = 0x5e,
    [IR.MAX] = 0x5f,
    [IR.ASTORE] = SSE_STORE, [IR.HSTORE] = SSE_STORE, [IR.USTORE] = SSE_STORE,
    [IR.XSTORE] = SSE_STORE,
}
local CALLS = { [IR.CALLN] = true, [IR.CALLA] = true, [IR.CALLL] = true, [IR.CALLS] = true }
local CALLED = {
    [IR.ALEN] = { "lj_tab_len", "lj_tab_len_hint" },
    [IR.BUFPUT] = { "lj_buf_putstr", "lj_buf_putmem", "lj_buf_putchar" },
    [IR.BUFSTR] = { "lj_buf_tostr" },
    [IR.MOD] = { "lj_vm_modi" },
    [IR.NEWREF] = { "lj_tab_newkey" },
    [IR.SNEW] = { "lj_str_new" },
    [IR.TDUP] = { "lj_tab_dup" },
    [IR.TNEW] = { "lj_tab_new_ah", "lj_tab_new1" },
}
local CALLER = {} -- IR instruction by the address that it calls
for number, names in pairs(CALLED) do
    for _, name in ipairs(names) do CALLER[FUNCTIONS[name] or 0] = number end
end
local RETF_TAIL = 11 -- what this guard does behind its jump
local XMM0 = 16 -- among LuaJIT's registers

local function sse_key(is_double, opcode, register)
    return (is_double and 0x10000 or 0) + opcode * 0x100 + register
end

-- Finds the places, in lists: by the number of the exit, by the called address, by sse_key().
local function find_places(mcode, addr, stubs)
    local exits, calls, sse = {}, {}, {}
    local function add(lists, key, offset)
        local list = lists[key] or {}
        -- Two jumps in a row are one guard, a comparison that may be unordered.
        local index = list[#list] == offset - 6 and #list or #list + 1
        list[index], lists[key] = offset, list
    end
    local function target(at)
        local a, b, c, d = byte(mcode, at, at + 3)
        return d and addr + at + 3 + tobit(a + b * 0x100 + c * 0x10000 + d * 0x1000000)
    end
    local gc_checks = {} -- offsets behind jumps that are no guard's
    for at in gmatch(mcode, "\232()") do
        local called = target(at)
        if called then add(calls, CALLER[called] or called, at + 3) end
        if called == FUNCTIONS.lj_gc_step_jit then gc_checks[at + 3 + 8] = true end
    end
    for _, jump in ipairs { "\15[\128-\143]()", "\233()" } do
        for at in gmatch(mcode, jump) do
            local exit = stubs[target(at)]
            if exit and not gc_checks[at + 3] then add(exits, exit, at + 3) end
        end
    end
    -- A write barrier: test [table+8], 4; jz over the rest.
    for over, at in gmatch(mcode, "\246..?\8\4\116(.)()") do
        add(calls, IR.TBAR, at - 1 + byte(over))
    end
    local instruction = "([\242\243])([\64-\79]?)\15([\17\81\88\89\92-\95])(.)()"
    for prefix, rex, opcode, modrm, at in gmatch(mcode, instruction) do
        rex, opcode, modrm = byte(rex) or 0, byte(opcode), byte(modrm)
        local mod, base, length = rshift(modrm, 6), band(modrm, 7), 0
        local has_sib = mod ~= 3 and base == 4
        if has_sib then
            base, length = band(byte(mcode, at) or 0, 7), 1
        end
        if mod == 1 then
            length = length + 1
        elseif mod == 2 or mod == 0 and base == 5 then
            length = length + 4
        end
        local register = rshift(band(modrm, 0x38), 3) + 2 * band(rex, 4)
        if opcode == SSE_STORE then register = 0 end -- any
        local is_spill = opcode == SSE_STORE and has_sib and base == 4 and band(rex, 1) == 0
        if not is_spill then
            add(sse, sse_key(prefix == "\242", opcode, register), at - 1 + length)
        end
    end
    return exits, calls, sse
end

-- Guards that are none on x64, but for an upvalue that may be closed.
local function has_jump(ir, ref)
    local number = rshift(ir.op[ref], 8)
    return band(ir.op[ref], GUARD) ~= 0 and not CALLED[number] and number ~= IR.UREFO and
           (number ~= IR.UREFC or ir.left[ref] > 0)
end

-- The list that has the place of an instruction that is no guard, if it has one.
local function list_of(ir, ref, calls, sse)
    local number, type, register = rshift(ir.op[ref], 8), band(ir.op[ref], TYPE), ir.register[ref]
    if number == IR.TBAR then
        return calls[number]
    elseif CALLS[number] then
        local called = jutil.ircalladdr(ir.right[ref])
        return calls[CALLER[called] or called]
    elseif CALLED[number] and type ~= FLOAT and type ~= NUMBER then
        return calls[number]
    elseif type == FLOAT or type == NUMBER then
        local opcode = SSE[number]
        if number == IR.FPMATH and vmdef.irfpm[ir.right[ref]] == "sqrt" then
            opcode = SSE_SQRT
        end
        if opcode == SSE_STORE and register ~= SINK and register ~= SUNK then
            return sse[sse_key(type == NUMBER, opcode, 0)]
        elseif opcode and register >= XMM0 and register < XMM0 + 16 then
            return sse[sse_key(type == NUMBER, opcode, register - XMM0)]
        end
    end
end

-- The entries of the line table: offset, file, line.
local function lines(trace, mcode, addr, loop_offset, stubs)
    if jit.arch ~= "x64" then
        local line = line_of(funcs[0], pcs[0])
        line.offset = 0
        return { line }
    end
    local ir, last = read_ir(trace)
    local snapshots = {}
    repeat
        local snapshot = tracesnap(trace, #snapshots)
        snapshots[#snapshots + 1] = snapshot
    until not snapshot
    local place = places(ir, last, snapshots)
    local exits, calls, sse = find_places(mcode, addr, stubs)

    local entries, covered, previous = {}, 0, nil
    local function cover(offset, index)
        if index ~= previous and covered < #mcode then
            local line, entry = line_of(funcs[index], pcs[index]), entries[#entries]
            if not entry or entry.line ~= line.line or entry.file ~= line.file then
                line.offset = covered
                entries[#entries + 1] = line
            end
            previous = index
        end
        covered = offset
    end
    local function first_between(list, low, high)
        for _, offset in ipairs(list) do
            if offset > low then return offset < high and offset or nil end
        end
    end
    -- Between two guards, as they are more certain than what lies between.
    local waiting = {}
    local function cover_waiting(limit)
        for _, item in ipairs(waiting) do
            local offset = first_between(item.list, covered, limit)
            if offset then cover(offset, item.index) end
        end
        waiting = {}
    end
    local exit = 0
    for ref = 1, last do
        while snapshots[exit + 2] and snapshots[exit + 2][0] <= ref do
            exit = exit + 1
        end
        if ref == ir.loop then
            cover_waiting(loop_offset)
        elseif has_jump(ir, ref) then
            local offset = exits[exit] and first_between(exits[exit], covered, math.huge)
            if offset then
                cover_waiting(offset)
                cover(offset + (rshift(ir.op[ref], 8) == IR.RETF and RETF_TAIL or 0), place[ref])
            end
        else
            local list = list_of(ir, ref, calls, sse)
            if list then waiting[#waiting + 1] = { list = list, index = place[ref] } end
        end
    end
    cover_waiting(math.huge)
    if #entries == 0 then cover(#mcode, 0) end
    return entries
end

return { start = start, record = record, lines = lines }
