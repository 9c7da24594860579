"""For gdb, on tests/consumers/unwind's chains: goes through a call of the chain instruction by instruction,
and prints at each one in generated code the functions of the backtrace as JSON.

$TOOL, $ELF
"""
import glob
import json
import os
import subprocess

import gdb


def backtrace():
    frame = gdb.newest_frame()
    while frame is not None:
        yield frame.name()
        frame = frame.older()


gdb.execute("set confirm off")
gdb.execute("set pagination off")
gdb.execute("break call_chain")
gdb.execute("run")
dump, = glob.glob(os.path.join(os.environ["JITDUMPDIR"], "jit-*.dump"))
subprocess.run([os.environ["TOOL"], "elf", dump, "-o", os.environ["ELF"]], check=True)
gdb.execute(f"add-symbol-file {os.environ['ELF']}")
text = subprocess.run(["nm", "-S", os.environ["ELF"]], check=True, capture_output=True,
                      text=True).stdout
functions = [(int(line.split()[0], 16), int(line.split()[1], 16))
             for line in text.splitlines()]
gdb.execute("delete")
calls = 0
inside = False
while calls < 2:  # the chain goes out by one exit and by the other
    gdb.execute("stepi", to_string=True)
    pc = gdb.newest_frame().pc()
    start = next((start for start, size in functions if start <= pc < start + size), None)
    if start is not None:
        print("\nSTEP " + json.dumps({"offset": pc - start, "names": list(backtrace())}))
    elif inside and gdb.newest_frame().name() == "call_chain":
        calls += 1
    inside = start is not None
gdb.execute("kill")
