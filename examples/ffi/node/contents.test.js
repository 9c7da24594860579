import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { constants, Dump, unwindEhFrame } from './jitdump.js';

const EM_X86_64 = 62;

// The same calls as in tests/bindings/ffi/contents.c, whose dump is compared with this one.
test('all that the library can do', async (t) => {
  let directory = process.env.JITDUMP_TESTS_CONTENTS;
  if (!directory) {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'jitdump-'));
    t.after(() => fs.rmSync(directory, { recursive: true }));
  }
  const dump = Dump.open({
    flags: constants.OUTERMOST_LINES | constants.TIER_RECORDS,
    flushMode: constants.FLUSH_BUFFERED,
    elfMach: EM_X86_64,
    dialect: constants.DIALECT_SAMPLY_2023,
    flushBytes: 4096,
    flushIntervalNs: 3600e9,
    sizeLimit: 8192,
    directory,
    track: 'second',
  });
  const [warning] = await once(process, 'warning');
  assert.match(warning.message, /no profiler/);
  dump.appendRaw(1000, Buffer.alloc(3500));
  const firstTier = dump.addTier('first', constants.COLOR_RED);
  const secondTier = dump.addTier('second', constants.COLOR_GREEN, 'Second: ');
  dump.embedSource('a.src', 'one\ntwo\n');

  const bytes = Uint8Array.from({ length: 24 }, (_, i) => i + 1);
  dump.load({
    tier: firstTier, name: 'with lines', codeAddr: 0x10000, codeBytes: bytes.subarray(0, 16),
    lines: [
      { codeAddr: 0x10000, line: 1, column: 2, file: 'a.src' },
      { codeAddr: 0x10008, line: 3, column: 4, file: 'b.src' },
    ],
  });
  dump.load({
    name: 'with frame', codeAddr: 0x20000n, codeBytes: bytes, codeSize: 24,
    unwind: { frame: constants.FRAME_POINTER },
  });

  const functions = [
    { name: 'outer', file: 'a.src', startLine: 5, startColumn: 6, flags: 7 },
    { name: 'inner', file: 'b.src', startLine: 8, startColumn: 9, flags: 10 },
  ];
  const positions = [
    { function: 0, line: 11, column: 12, caller: constants.NONE },
    { function: 1, line: 13, column: 14, caller: 0 },
  ];
  const offsets = [{ codeOffset: 2, position: 0 }, { codeOffset: 4, position: 1 }];
  const [rsp, rbx] = [constants.X86_64_RSP, constants.X86_64_RBX];
  const withTrack = {
    tier: secondTier, name: 'with träck', codeAddr: 0x30000, codeBytes: bytes.subarray(0, 16),
    unwind: {
      frame: constants.FRAME_STEPS,
      steps: [
        { codeOffset: 1, op: constants.UNWIND_DEF_CFA, reg: rsp, offset: 16 },
        { codeOffset: 1, op: constants.UNWIND_OFFSET, reg: rbx, offset: -16 },
        { codeOffset: 9, op: constants.UNWIND_DEF_CFA, reg: rsp, offset: 8 },
      ],
    },
    tracks: [
      {
        name: 'first', functions: functions.slice(0, 1), positions: positions.slice(0, 1),
        offsets: offsets.slice(0, 1),
      },
      { name: 'second', functions, positions, offsets },
    ],
  };
  const index = dump.load(withTrack);
  dump.move(index, 0x30000, 0x40000, 16 + dump.unwindSize(withTrack));
  dump.load({
    name: 'with eh_frame', codeAddr: 0x50000, codeBytes: bytes.subarray(0, 16),
    ehFrame: bytes, ehFrameHdr: bytes.subarray(0, 20),
  });
  dump.appendRaw(1001, unwindEhFrame(EM_X86_64, withTrack));
  dump.flush();
  dump.flushFromSignal();

  assert.throws(() => dump.appendRaw(1002, Buffer.alloc(8192)),
    { code: constants.ERROR_SIZE_LIMIT });
  assert.throws(() => dump.close(), { code: constants.ERROR_SIZE_LIMIT });
});
