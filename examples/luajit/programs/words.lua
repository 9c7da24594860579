-- Makes up a text, and counts and sorts its words.
--     luajit words.lua [ROUNDS]
local rounds = tonumber(arg[1]) or 500

local SYLLABLES = { "ka", "lo", "mi", "ne", "pu", "ra", "si", "to", "ve", "zu" }

local seed = 42
local function random(limit)
    seed = (seed * 16807) % 2147483647
    return seed % limit + 1
end

local function make_word()
    local word = ""
    for _ = 1, random(3) do
        word = word .. SYLLABLES[random(#SYLLABLES)]
    end
    return word
end

local function make_text(length)
    local words = {}
    for i = 1, length do
        words[i] = make_word()
    end
    return table.concat(words, " ")
end

local SPACE = (" "):byte()

local function count_words(text, counts)
    local start = 1
    for i = 1, #text + 1 do
        local char = text:byte(i)
        if not char or char == SPACE then
            local word = text:sub(start, i - 1)
            counts[word] = (counts[word] or 0) + 1
            start = i + 1
        end
    end
end

local function hash(text)
    local h = 0
    for i = 1, #text do
        h = bit.bxor(bit.rol(h, 5), text:byte(i))
    end
    return h
end

local counts, check = {}, 0
for _ = 1, rounds do
    local text = make_text(30000)
    count_words(text, counts)
    check = bit.bxor(check, hash(text))
end

local words = {}
for word in pairs(counts) do
    words[#words + 1] = word
end
table.sort(words, function(a, b)
    if counts[a] ~= counts[b] then
        return counts[a] > counts[b]
    end
    return a < b
end)
for i = 1, 5 do
    print(words[i], counts[words[i]])
end
print(#words, bit.tohex(check))
