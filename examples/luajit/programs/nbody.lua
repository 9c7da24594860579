-- The Sun and its large planets, drawn by each other.
--     luajit nbody.lua [STEPS]
local steps = tonumber(arg[1]) or 10000000

local DAYS = 365.24
local SUN_MASS = 4 * math.pi ^ 2

local function body(x, y, z, vx, vy, vz, mass)
    return {
        x = x, y = y, z = z,
        vx = vx * DAYS, vy = vy * DAYS, vz = vz * DAYS,
        mass = mass * SUN_MASS,
    }
end

local bodies = {
    body(0, 0, 0, 0, 0, 0, 1),
    body(4.841, -1.160, -0.104, 1.660e-3, 7.699e-3, -6.905e-5, 9.548e-4),
    body(8.343, 4.125, -0.404, -2.767e-3, 4.998e-3, 2.304e-5, 2.859e-4),
    body(12.894, -15.111, -0.223, 2.965e-3, 2.378e-3, -2.966e-5, 4.366e-5),
    body(15.380, -25.919, 0.179, 2.681e-3, 1.628e-3, -9.516e-5, 5.151e-5),
}

local function attract(a, b, dt)
    local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
    local square = dx * dx + dy * dy + dz * dz
    local force = dt / (square * math.sqrt(square))
    local of_a, of_b = a.mass * force, b.mass * force
    a.vx = a.vx - dx * of_b
    a.vy = a.vy - dy * of_b
    a.vz = a.vz - dz * of_b
    b.vx = b.vx + dx * of_a
    b.vy = b.vy + dy * of_a
    b.vz = b.vz + dz * of_a
end

local function advance(dt)
    for i = 1, #bodies do
        for j = i + 1, #bodies do
            attract(bodies[i], bodies[j], dt)
        end
    end
    for i = 1, #bodies do
        local b = bodies[i]
        b.x = b.x + dt * b.vx
        b.y = b.y + dt * b.vy
        b.z = b.z + dt * b.vz
    end
end

local function energy()
    local sum = 0
    for i = 1, #bodies do
        local a = bodies[i]
        sum = sum + a.mass * (a.vx ^ 2 + a.vy ^ 2 + a.vz ^ 2) / 2
        for j = i + 1, #bodies do
            local b = bodies[j]
            local square = (a.x - b.x) ^ 2 + (a.y - b.y) ^ 2 + (a.z - b.z) ^ 2
            sum = sum - a.mass * b.mass / math.sqrt(square)
        end
    end
    return sum
end

for _ = 1, steps do
    advance(0.01)
end
print(("%.6f"):format(energy()))
