-- The spectral norm of an infinite matrix, by the power method on its first rows and columns.
--     luajit spectral_norm.lua [SIZE]
local size = tonumber(arg[1]) or 3500

local function element(row, column)
    local diagonal = row + column - 1
    return 1 / (diagonal * (diagonal - 1) / 2 + row)
end

local function multiply(vector, result)
    for row = 1, size do
        local sum = 0
        for column = 1, size do
            sum = sum + element(row, column) * vector[column]
        end
        result[row] = sum
    end
end

local function multiply_transposed(vector, result)
    for row = 1, size do
        local sum = 0
        for column = 1, size do
            sum = sum + element(column, row) * vector[column]
        end
        result[row] = sum
    end
end

local u, v, between = {}, {}, {}
for i = 1, size do
    u[i] = 1
end
for _ = 1, 30 do
    multiply(u, between)
    multiply_transposed(between, v)
    multiply(v, between)
    multiply_transposed(between, u)
end

local numerator, denominator = 0, 0
for i = 1, size do
    numerator = numerator + u[i] * v[i]
    denominator = denominator + v[i] * v[i]
end
print(("%.9f"):format(math.sqrt(numerator / denominator)))
