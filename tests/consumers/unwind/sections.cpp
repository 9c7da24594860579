// Functions whose .eh_frame has what compilers put there: personality and LSDA, saved registers,
// frames of any size, an alignment of the stack, functions in parts.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct Guard {
    std::string text;
    explicit Guard(const char *from) : text(from) {}
    ~Guard() { std::puts(text.c_str()); }
};

int throws(int value)
{
    Guard guard("thrown");
    if (value > 100)
        throw std::runtime_error(guard.text + std::to_string(value));
    return value + 1;
}

int catches(int value)
{
    try {
        return throws(value) * 2;
    } catch (const std::exception &error) {
        std::vector<int> numbers(static_cast<std::size_t>(value));
        return numbers[0] + error.what()[0];
    }
}

double many_values(const double *from, int count)
{
    double sums[8] = {};
    for (int i = 0; i < count; i++)
        sums[i & 7] += from[i] * catches(i);
    alignas(64) volatile double aligned[8];
    aligned[count & 7] = sums[count & 7];
    return aligned[count & 7];
}

int large_frame(int value)
{
    volatile char bytes[100000];
    bytes[value] = static_cast<char>(value);
    return bytes[value] + catches(value);
}

int main(int argc, char **)
{
    const double numbers[] = {1, 2, 3};
    return static_cast<int>(many_values(numbers, argc % 3)) + large_frame(argc);
}
