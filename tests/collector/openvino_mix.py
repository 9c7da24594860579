"""A small network by OpenVINO on the processor, for as many seconds as the argument says."""
import sys
import time

import numpy
import openvino
from openvino import opset13 as operations

random = numpy.random.default_rng(1)


def constant(*shape):
    return operations.constant(random.random(shape, numpy.float32) - numpy.float32(0.5))


image = operations.parameter([1, 16, 56, 56], numpy.float32)
filtered = operations.relu(operations.convolution(image, constant(16, 16, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]))
curved = operations.tanh(operations.exp(operations.multiply(filtered, constant(1))))
rows = operations.reshape(curved, operations.constant(numpy.array([16, 3136])), False)
product = operations.softmax(operations.matmul(rows, constant(3136, 256), False, False), 1)
model = openvino.Model([operations.reduce_sum(product, operations.constant(numpy.array([0])))], [image])
compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1})

data = random.random((1, 16, 56, 56), numpy.float32)
# The processor's, so that a busy machine changes nothing.
end = time.process_time() + float(sys.argv[1])
rounds = 0
while time.process_time() < end:
    compiled([data])
    rounds += 1
print(rounds, file=sys.stderr)
