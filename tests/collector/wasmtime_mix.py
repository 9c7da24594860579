"""Functions compiled by wasmtime, for as many seconds as the first argument says; prints where each lies, by the
symbols of the serialized module and the place where its code is. The second says who is told: "vtune", "gdb" or
"nobody". The third is a module in place of the one below."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import wasmtime

TEXT = """
(module
  (func $fib (export "fib") (param i64) (result i64)
    (if (result i64) (i64.lt_s (local.get 0) (i64.const 2))
      (then (local.get 0))
      (else (i64.add (call $fib (i64.sub (local.get 0) (i64.const 1)))
                     (call $fib (i64.sub (local.get 0) (i64.const 2)))))))
  (func $spin (export "spin") (param i64) (result i64) (local $sum i64)
    (loop $again
      (local.set $sum (i64.rem_u (i64.add (i64.mul (local.get $sum) (i64.const 31)) (local.get 0))
                                 (i64.const 1000003)))
      (br_if $again (i64.ne (local.tee 0 (i64.sub (local.get 0) (i64.const 1))) (i64.const 0))))
    (local.get $sum)))
"""

config = wasmtime.Config()
if sys.argv[2] == "vtune":
    config.profiler = "vtune"
config.debug_info = sys.argv[2] == "gdb"
store = wasmtime.Store(wasmtime.Engine(config))
module = wasmtime.Module(store.engine, pathlib.Path(sys.argv[3]).read_bytes() if len(sys.argv) > 3 else TEXT)
exports = wasmtime.Instance(store, module, []).exports(store)


def functions():
    with tempfile.NamedTemporaryFile() as file:
        file.write(module.serialize())
        file.flush()
        text = subprocess.run(["readelf", "-SsW", file.name], capture_output=True, text=True,
                              check=True).stdout
        offset = int(re.search(r" \.text +PROGBITS +[0-9a-f]+ ([0-9a-f]+)", text)[1], 16)
        code = pathlib.Path(file.name).read_bytes()[offset:offset + 256]
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
            start, end, rights = re.match("([0-9a-f]+)-([0-9a-f]+) (....)", line).groups()
            if "x" not in rights or "[" in line:
                continue
            memory.seek(int(start, 16))
            if memory.read(256) == code:
                break
        else:
            raise AssertionError("the code is not in memory")
    for value, size, name in re.findall(r": ([0-9a-f]{16}) +(\d+) FUNC .* (\S+)$", text, re.MULTILINE):
        print(json.dumps([name, int(start, 16) + int(value, 16), int(size)]))


functions()
sys.stdout.flush()
# The processor's, so that a busy machine changes nothing.
end = time.process_time() + float(sys.argv[1])
rounds = 0
while time.process_time() < end:
    exports["fib"](store, 20)
    exports["spin"](store, 200000)
    rounds += 1
print(rounds, file=sys.stderr)
