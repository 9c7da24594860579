"""Compares what a binding declares with the header.

    python3 layout.py HEADER.abi              prints the header's layout
    python3 layout.py HEADER.abi BINDING.json compares it with a binding's

A layout is JSON, with the names of C:

    {"structs": {"jitdump_offset": {"size": 8, "fields": {"code_offset": [0, 4],
                                                          "position": [4, 4]}}, ...},
     "constants": {"JITDUMP_ERROR_ARGUMENT": -1, "JITDUMP_TIERS_MAX": 64, ...},
     "functions": {"jitdump_strerror": [8, 4], ...}}

A field has its offset and size. A function has the sizes of its result, 0 for none, and of its
parameters; or null, where the binding's language reads the prototype from the header itself.
The header's layout comes from tests/packaging/abi/dump.sh. The binding's must be computed by its
own language from the declarations that its calls use.
"""

import json
import sys
from typing import Dict, Iterator, Tuple
from xml.etree import ElementTree

MACRO = "macro_"  # which tests/packaging/abi/dump.sh puts in front of a macro's name


class Header:
    """The XML that abidw has written."""

    def __init__(self, path: str) -> None:
        self.root = ElementTree.parse(path).getroot()
        self.types = {element.get("id"): element for element in self.root.iter()
                      if element.get("id")}

    @property
    def soname(self) -> str:
        return self.root.get("soname")

    def size(self, type_id: str) -> int:
        """In bytes; 0 for void."""
        found = self.types[type_id]
        if found.tag == "pointer-type-def":  # abidw 2.6 leaves the size of `const void *` out
            return int(self.root.find(".//abi-instr").get("address-size")) // 8
        if "size-in-bits" in found.keys():
            return int(found.get("size-in-bits")) // 8
        if found.tag == "type-decl" and found.get("name") == "void":
            return 0
        return self.size(found.get("type-id"))  # a typedef, or with a qualifier

    def layout(self) -> dict:
        return {"structs": dict(self._structs()), "constants": dict(self._constants()),
                "functions": dict(self._functions())}

    def _structs(self) -> Iterator[Tuple[str, dict]]:
        for struct in self._named("class-decl"):
            if struct.get("is-declaration-only") == "yes":
                continue
            fields: Dict[str, list] = {}
            for member in struct.iter("data-member"):
                variable = member.find("var-decl")
                fields[variable.get("name")] = [int(member.get("layout-offset-in-bits")) // 8,
                                                self.size(variable.get("type-id"))]
            yield struct.get("name"), {"size": int(struct.get("size-in-bits")) // 8,
                                       "fields": fields}

    def _constants(self) -> Iterator[Tuple[str, int]]:
        for enum in self._named("enum-decl"):
            for enumerator in enum.iter("enumerator"):
                yield enumerator.get("name").removeprefix(MACRO), int(enumerator.get("value"))

    def _functions(self) -> Iterator[Tuple[str, list]]:
        for function in self._named("function-decl"):
            types = [function.find("return"), *function.iter("parameter")]
            yield function.get("name"), [self.size(item.get("type-id")) for item in types]

    def _named(self, tag: str) -> Iterator[ElementTree.Element]:
        return (element for element in self.root.iter(tag)
                if element.get("name").startswith("jitdump"))


def differences(place: str, expected: object, found: object) -> Iterator[str]:
    """What differs, one line each."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in [*expected, *(name for name in found if name not in expected)]:
            where = f"{place}{name}"
            if name not in found:
                yield f"{where}: missing in the binding"
            elif name not in expected:
                yield f"{where}: not in the header"
            else:
                yield from differences(where + ": ", expected[name], found[name])
    elif found != expected and not (found is None and place.startswith("functions: ")):
        yield f"{place}{json.dumps(found)} in the binding, {json.dumps(expected)} in the header"


def main(header_path: str, *binding_path: str) -> int:
    header = Header(header_path).layout()
    if not header["structs"] or not header["constants"] or not header["functions"]:
        print(f"{header_path}: structs, constants or functions are missing", file=sys.stderr)
        return 1
    if not binding_path:
        json.dump(header, sys.stdout, indent=1)
        print()
        return 0
    with open(binding_path[0], encoding="utf-8") as file:
        binding = json.load(file)
    found = list(differences("", header, binding))
    print("\n".join(found) or
          "alike: " + ", ".join(f"{len(part)} {name}" for name, part in header.items()))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
