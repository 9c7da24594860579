"""For gdb, on the tiered example: stops it when all functions are optimised, gives gdb the ELF file
of the dump as it is then, and prints the frames at breakpoints by line as lines of JSON.

$TOOL, $ELF; $PLACES: "FILE:LINE" of each breakpoint, and how often it is to be hit.
"""
import glob
import json
import os
import subprocess

import gdb

HITS = 5


def make_elf():
    dump, = glob.glob(os.path.join(os.environ["JITDUMPDIR"], "jit-*.dump"))
    subprocess.run([os.environ["TOOL"], "elf", dump, "-o", os.environ["ELF"]], check=True)
    return subprocess.run(["nm", os.environ["ELF"]], check=True, capture_output=True,
                          text=True).stdout


def frames():
    frame = gdb.newest_frame()
    while frame is not None:
        line = frame.find_sal()
        yield {"function": frame.name(), "pc": frame.pc(),
               "file": line.symtab.filename if line.symtab else None, "line": line.line,
               "inlined": frame.type() == gdb.INLINE_FRAME}
        frame = frame.older()


gdb.execute("set confirm off")
gdb.execute("set pagination off")
stop = gdb.Breakpoint("runtime_compact")
gdb.execute("run")
while make_elf().count("Ion: ") < 5:
    gdb.execute("continue")
gdb.execute("finish")
stop.delete()
make_elf()
gdb.execute(f"add-symbol-file {os.environ['ELF']}")
for place in os.environ["PLACES"].split():
    breakpoint = gdb.Breakpoint(place)
    for _ in range(HITS):
        gdb.execute("continue")
        print("\nSTOP " + json.dumps({"breakpoint": place, "hits": breakpoint.hit_count,
                                      "frames": list(frames())}))
    breakpoint.delete()
gdb.execute("kill")
