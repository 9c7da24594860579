"""For gdb: prints for each of $ADDRESSES a line of JSON, the chain of inlined calls there."""
import json
import os

import gdb


def chain(pc):
    line = gdb.find_pc_line(pc)
    file, number = (line.symtab.filename if line.symtab else None), line.line
    result = []
    block = gdb.block_for_pc(pc)
    while block is not None and not block.is_static:
        function = block.function
        if function is not None:
            result.append((function.name, file, number))
            # Of an inlined function gdb keeps the place of the call.
            file, number = (function.symtab.filename if function.symtab else None), function.line
        block = block.superblock
    return result


for text in os.environ["ADDRESSES"].split():
    print(json.dumps({"address": int(text, 16), "chain": chain(int(text, 16))}))
