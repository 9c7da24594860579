"""Describes what numba compiles to libjitdump: names, lines, call frames. To be imported before
anything is compiled, under JITDUMP=1.

numba has no hook for this, so two methods of its code libraries are replaced: the one in which a
library gets its place in memory, and one before that, so that there is room behind each function and
every function has a frame description. Lines are there where numba makes them: debug=True.
"""

import io
import re
from typing import Dict, List, Set

import jitdump
import llvmlite.binding as llvm
from elftools.elf.elffile import ELFFile
from numba.core.codegen import JITCodeLibrary

# For a CIE, an FDE and their index: a guess, since nothing is compiled then. JITDUMP=debug tells of too little.
ROOM = 256
# Of x86-64, by number: bytes, and whether it is relative to its own place. R_X86_64_64, PC32, 32, PC64.
RELOCATIONS = {1: (8, False), 2: (4, True), 10: (4, False), 24: (8, True)}

dump = jitdump.open(from_environment=True)
loaded: Set[int] = set()


def prepare(library: JITCodeLibrary) -> None:
    """Data in front of a function is room behind the one before it."""
    optimize(library)
    library._final_module = llvm.parse_assembly(re.sub(
        r"(?m)^(define (?!.* prefix ).*?)((?: personality .*?)?(?: !dbg !\d+)? \{)$",
        rf"\1 uwtable prefix [{ROOM} x i8] zeroinitializer\2", str(library._final_module)))
    library.enable_object_caching()


def load(library: JITCodeLibrary) -> None:
    finalize(library)
    buffer = bytearray(library._get_compiled_object())
    elf = ELFFile(io.BytesIO(bytes(buffer)))
    symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
    places: Dict[int, int] = {}  # where each section was loaded
    for symbol in symbols:
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_info"]["bind"] != "STB_LOCAL":
            address = library._codegen._engine.get_function_address(symbol.name)
            if address not in loaded:  # of what several objects have, one is loaded
                places[symbol["st_shndx"]] = address - symbol["st_value"]
    if not places:
        return
    eh_frame_addr = min(places.values())
    relocate(elf, buffer, symbols, places, eh_frame_addr)
    elf = ELFFile(io.BytesIO(bytes(buffer)))
    dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)
    rows = line_rows(dwarf)
    for symbol in symbols:
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] in places:
            start = places[symbol["st_shndx"]] + symbol["st_value"]
            end = start + symbol["st_size"]
            loaded.add(start)
            dump.load(jitdump.Code(
                name=readable(symbol.name), code_addr=start, code_size=end - start,
                lines=rows,  # of which it takes its own
                eh_frame=elf.get_section_by_name(".eh_frame").data(), eh_frame_addr=eh_frame_addr))


def relocate(elf: ELFFile, buffer: bytearray, symbols: list, places: Dict[int, int],
             pc_relative_to: int) -> None:
    """Puts the functions' addresses into the object's sections."""
    for section in elf.iter_sections("SHT_RELA"):
        start = elf.get_section(section["sh_info"])["sh_offset"]
        for relocation in section.iter_relocations():
            if relocation["r_info_type"] in RELOCATIONS:
                size, pc_relative = RELOCATIONS[relocation["r_info_type"]]
                offset, symbol = relocation["r_offset"], symbols[relocation["r_info_sym"]]
                value = (places.get(symbol["st_shndx"], 0) + symbol["st_value"]
                         + relocation["r_addend"] - pc_relative * (pc_relative_to + offset))
                value %= 2 ** (8 * size)
                buffer[start + offset:start + offset + size] = value.to_bytes(size, "little")


def line_rows(dwarf: object) -> List[jitdump.Line]:
    """By address; of one address the last counts, and line 0 is no line."""
    rows: List[jitdump.Line] = []
    for unit in dwarf.iter_CUs() if dwarf.has_debug_info else ():
        program = dwarf.line_program_for_CU(unit)
        directory = unit.get_top_DIE().attributes["DW_AT_comp_dir"].value
        for entry in program.get_entries() if program else ():
            row = entry.state
            if row and not row.end_sequence:
                file = program["file_entry"][row.file - (program["version"] < 5)].name
                rows.append(jitdump.Line(row.address, row.line, directory + b"/" + file))
    return sorted(rows, key=lambda row: row.code_addr)


def readable(symbol: str) -> str:
    """numba's names are C++'s: _ZN8__main__3fooB2v1...E, and something before that for wrappers."""
    wrapper, _, rest = symbol.partition("_ZN")
    parts = []
    while length := re.match(r"\d+", rest):
        end = length.end() + int(length[0])
        parts.append(rest[length.end():end])
        rest = rest[end:]
    return wrapper + ".".join(parts) or symbol


optimize, finalize = JITCodeLibrary._optimize_final_module, JITCodeLibrary._finalize_specific
if dump:
    JITCodeLibrary._optimize_final_module, JITCodeLibrary._finalize_specific = prepare, load
