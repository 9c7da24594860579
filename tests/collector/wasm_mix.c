/* For clang --target=wasm32: a module whose debug information wasmtime translates. */
static unsigned step(unsigned sum, unsigned count)
{
    return (sum * 31 + count) % 1000003;
}

__attribute__((export_name("spin"))) unsigned long long spin(unsigned long long count)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum = step(sum, i);
    return sum;
}

__attribute__((export_name("fib"), noinline)) unsigned long long fib(unsigned long long n)
{
    if (n < 2)
        return n;
    return fib(n - 1) +
           fib(n - 2);
}
