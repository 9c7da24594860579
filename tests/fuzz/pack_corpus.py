#!/usr/bin/env python3
"""Packs a folder of inputs into a fuzz target's corpus, which the source tree has as one file.

    pack_corpus.py FOLDER tests/fuzz/corpus/TARGET.zip

The build unpacks it into its own folder, tests/fuzz/corpus/TARGET, which libFuzzer and the replay
read. To keep what a run has found in FOUND, let libFuzzer choose the inputs that reach something of
their own, and pack these:

    mkdir chosen
    build-fuzz/tests/fuzz/fuzz_api -merge=1 chosen build-fuzz/tests/fuzz/corpus/api FOUND
    python3 tests/fuzz/pack_corpus.py chosen tests/fuzz/corpus/api.zip

The same inputs make the same bytes: without times, in the order of names, and not compressed, which
git does anyway.
"""
import pathlib
import sys
import zipfile

# What replay.c reads of an input.
INPUT_SIZE_MAX = 1 << 20


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    inputs = sorted(path for path in pathlib.Path(sys.argv[1]).iterdir()
                    if path.is_file() and not path.name.startswith("."))
    if not inputs:
        sys.exit(f"{sys.argv[1]}: no inputs")
    for path in inputs:
        if path.stat().st_size > INPUT_SIZE_MAX:
            sys.exit(f"{path}: more than {INPUT_SIZE_MAX} bytes, which the replay would cut off")
    with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_STORED) as archive:
        for path in inputs:
            archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes())
    print(f"{sys.argv[2]}: {len(inputs)} inputs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
