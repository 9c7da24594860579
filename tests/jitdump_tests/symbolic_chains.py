"""Run by a Python that has the package symbolic: what it says of addresses, read from standard input,
in a Breakpad symbol file. Prints a JSON object for each."""
import json
import sys

from symbolic import Archive


def main() -> None:
    symbols, = Archive.open(sys.argv[1]).iter_objects()
    cache = symbols.make_symcache()
    print(json.dumps({"id": symbols.debug_id.replace("-", "").upper() + "0",
                      "code_id": symbols.code_id, "arch": symbols.arch}))
    for line in sys.stdin:
        address = int(line, 16)
        # All files are printed with one and the same folder in front, which is none.
        print(json.dumps({"address": address, "chain": [
            [one.symbol, one.full_path, one.line] for one in cache.lookup(address)]}))


if __name__ == "__main__":
    main()
