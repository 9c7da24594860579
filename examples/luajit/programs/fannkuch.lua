-- Over all permutations: how often can the first elements be reversed, as many as the first says,
-- until the first is 1?
--     luajit fannkuch.lua [ROUNDS]
local rounds = tonumber(arg[1]) or 4

local elements = 10

local function count_flips(permutation, scratch)
    for i = 1, elements do
        scratch[i] = permutation[i]
    end
    local flips = 0
    local first = scratch[1]
    while first ~= 1 do
        local low, high = 1, first
        while low < high do
            scratch[low], scratch[high] = scratch[high], scratch[low]
            low = low + 1
            high = high - 1
        end
        flips = flips + 1
        first = scratch[1]
    end
    return flips
end

-- Turns the first elements by one place; more of them, when that has come round.
local function next_permutation(permutation, turns)
    for last = 2, elements do
        local first = permutation[1]
        for i = 1, last - 1 do
            permutation[i] = permutation[i + 1]
        end
        permutation[last] = first
        turns[last] = turns[last] + 1
        if turns[last] < last then
            return true
        end
        turns[last] = 0
    end
    return false
end

local function fannkuch()
    local permutation, scratch, turns = {}, {}, {}
    for i = 1, elements do
        permutation[i], turns[i] = i, 0
    end
    local most, checksum, sign = 0, 0, 1
    repeat
        local flips = count_flips(permutation, scratch)
        most = math.max(most, flips)
        checksum = checksum + sign * flips
        sign = -sign
    until not next_permutation(permutation, turns)
    return checksum, most
end

local checksum, most
for _ = 1, rounds do
    checksum, most = fannkuch()
end
print(checksum, most)
