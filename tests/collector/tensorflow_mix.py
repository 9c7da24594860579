"""Functions compiled by TensorFlow: by XLA, and by oneDNN, for as many seconds as the argument says."""
import sys
import time

import tensorflow


@tensorflow.function(jit_compile=True)
def iterate(x):
    for _ in range(20):
        x = tensorflow.sqrt(x) * 3.9 * (1.0 - x) / (x + 1.5)
    return tensorflow.abs(x)


@tensorflow.function(jit_compile=True)
def mix(x):
    return tensorflow.reduce_sum(tensorflow.exp(-x * x) + tensorflow.tanh(x)) % 17.0


@tensorflow.function
def filtered(image, weights):
    return tensorflow.nn.relu(tensorflow.nn.conv2d(image, weights, 1, "SAME"))


x = tensorflow.linspace(0.0, 1.0, 200000)
image = tensorflow.random.uniform((1, 56, 56, 16))
weights = tensorflow.random.uniform((3, 3, 16, 16))
end = time.time() + float(sys.argv[1])
rounds = 0
while time.time() < end:
    for _ in range(10):
        iterate(x), mix(x), filtered(image, weights)
    rounds += 1
print(rounds, file=sys.stderr)
