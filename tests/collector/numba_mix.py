"""Functions compiled by numba, for as many seconds as the argument says; prints where each lies, and its first
bytes."""
import ctypes
import json
import sys
import time

import numba


@numba.njit
def primes(limit):
    count = 0
    for number in range(2, limit):
        divisor = 2
        while divisor * divisor <= number and number % divisor != 0:
            divisor += 1
        count += divisor * divisor > number
    return count


@numba.njit
def spin(count):
    total = 0
    for number in range(count):
        total = (total * 31 + number) % 1000003
    return total


@numba.njit
def logistic(count):
    value = 0.3
    for _ in range(count):
        value = 3.9 * value * (1.0 - value)
    return value


FUNCTIONS = (primes, spin, logistic)

for function in FUNCTIONS:
    function(10)
for function in FUNCTIONS:
    for compiled in function.overloads.values():
        library = compiled.library
        for made in library._final_module.functions:
            if not made.is_declaration:
                address = library.get_pointer_to_function(made.name)
                print(json.dumps([made.name, address, ctypes.string_at(address, 64).hex()]))
sys.stdout.flush()
# The processor's, so that a busy machine changes nothing.
end = time.process_time() + float(sys.argv[1])
rounds = 0
while time.process_time() < end:
    primes(4000), spin(200000), logistic(200000)
    rounds += 1
print(rounds, file=sys.stderr)
