"""Functions compiled by JAX for the processor, for as many seconds as the argument says."""
import sys
import time

import jax
import jax.numpy as jnp


@jax.jit
def iterate(x):
    return jax.lax.fori_loop(0, 200, lambda _, y: jnp.sin(y) * 3.9 * (1.0 - y), x)


@jax.jit
def mix(x):
    return jnp.cumsum(jnp.exp(-x * x) + jnp.tanh(x)) % 17.0


x = jnp.linspace(0.0, 1.0, 20000)
end = time.time() + float(sys.argv[1])
rounds = 0
while time.time() < end:
    iterate(x).block_until_ready(), mix(x).block_until_ready()
    rounds += 1
print(rounds, file=sys.stderr)
