import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';

import { constants, Dump, JitdumpError, unwindEhFrame, version } from './jitdump.js';

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'jitdump-'));
process.on('exit', () => fs.rmSync(directory, { recursive: true }));
const bytes = new Uint8Array(16);

function refuses(call, code, text) {
  assert.throws(call, (error) => {
    assert.ok(error instanceof JitdumpError, error);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, text);
    return true;
  });
}

test('an error of open() names the path', () => {
  refuses(() => Dump.open({ directory: `${directory}/missing` }), constants.ERROR_DIRECTORY_MISSING,
    new RegExp(`^${directory}/missing: `));
});

test('bad input is an error with the library\'s text', () => {
  const dump = Dump.open({ directory, flags: constants.STRICT });
  const line = { codeAddr: 0x1000, line: 1, file: 'f' };
  for (const [code, error, text] of [
    [{ codeBytes: bytes }, constants.ERROR_NAME_MISSING, /name/],
    [{ name: 'f', codeSize: 1 }, constants.ERROR_CODE_MISSING, /code/],
    [{ name: 'f', codeAddr: 0x1000, codeBytes: bytes, lines: [line, line] },
      constants.ERROR_LINES_ORDER, /ascend/],
    [{ name: 'f', codeBytes: bytes, ehFrame: Uint8Array.of(1) }, constants.ERROR_UNWIND_SECTION, /eh_frame/],
    [{ name: 'f', codeBytes: bytes, unwind: { frame: 7 } }, constants.ERROR_UNWIND_FRAME, /frame/],
    [{ name: 'f', codeBytes: bytes, tracks: [{}] }, constants.ERROR_TRACK_EMPTY, /track/],
    [{ name: 'f', codeBytes: bytes, tier: 5 }, constants.ERROR_TIER, /tier/],
  ])
    refuses(() => dump.load(code), error, text);
  refuses(() => dump.move(0, 1, 2, 3), constants.ERROR_CODE_INDEX, /code_index/);
  refuses(() => dump.appendRaw(1, bytes), constants.ERROR_RECORD_ID, /id/);
  refuses(() => dump.appendRaw(99, new Uint8Array(0)), constants.ERROR_RECORD_EMPTY, /payload/);
  refuses(() => dump.embedSource('', 'text'), constants.ERROR_SOURCE_PATH, /path/);
  refuses(() => dump.addTier('t', 99), constants.ERROR_TIER_COLOR, /colo/);
  refuses(() => dump.unwindSize({ unwind: { frame: 7 } }), constants.ERROR_UNWIND_FRAME, /frame/);
  refuses(() => unwindEhFrame(0, {}), constants.ERROR_ARGUMENT, /NULL/);
  dump.flush();
  dump.close();
});

test('an unknown field is a TypeError', () => {
  const dump = Dump.open({ directory });
  assert.throws(() => dump.load({ name: 'f', adress: 1 }), TypeError);
  assert.throws(() => dump.load({ name: 'f', lines: [{ text: '' }] }), TypeError);
  dump.close();
});

test('what does not fit into C is refused, and not cut off', () => {
  const dump = Dump.open({ directory });
  for (const call of [
    () => Dump.open({ directory: 'a\0b' }),
    () => Dump.open({ flags: 2 ** 32 }),
    () => dump.addTier('a\0b', constants.COLOR_RED),
    () => dump.embedSource('a\0b', 'text'),
    () => dump.load({ name: 'a\0b' }),
    () => dump.load({ name: 5 }),
    () => dump.load({ name: 'f', codeAddr: -1 }),
    () => dump.load({ name: 'f', codeAddr: 2n ** 64n }),
    () => dump.load({ name: 'f', codeSize: 1.5 }),
    () => dump.load({ name: 'f', codeBytes: 4096n, codeSize: 1 }),
    () => dump.load({ name: 'f', codeBytes: bytes, lines: { line: 1 } }),
    () => dump.load({ name: 'f', codeBytes: bytes, lines: [1] }),
    () => dump.load({ name: 'f', codeBytes: bytes, unwind: 4096n }),
    () => dump.load({ name: 'f', codeBytes: bytes, codeSize: 15 }),
    () => dump.load({ name: 'f', codeBytes: bytes, lines: [{ line: 1, file: 'a\0b' }] }),
    () => dump.move(1, 0, -1, 4),
    () => dump.appendRaw(2 ** 32, bytes),
  ])
    assert.throws(call, (error) => !(error instanceof JitdumpError), call.toString());
  dump.close();
});

test('the library that is loaded has a version', () => {
  assert.ok(version() >= 100);
});

test('without a dump nothing happens', () => {
  const closed = Dump.open({ directory });
  assert.ok(closed.isOpen);
  closed.close();
  for (const dump of [new Dump(null), closed]) {
    assert.ok(!dump.isOpen);
    assert.equal(dump.path, null);
    assert.equal(dump.load({ name: 'f' }), 0n);
    dump.flush();
    dump.close();
  }
});

// koffi takes objects, which are garbage afterwards: all of it.
test('nothing is kept of loads', () => {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  const dump = Dump.open({ directory, flushMode: constants.FLUSH_BUFFERED });
  const lineRows = Array.from({ length: 20 }, (_, i) => ({ codeOffset: i, file: 0, line: 1 + i }));
  const lines = lineRows.map(({ codeOffset, line }) => ({ codeAddr: codeOffset, line, file: 'f' }));
  for (const fields of [{}, { lines }, { lineRows, files: ['f'] }]) {
    const code = { name: 'f', codeBytes: new Uint8Array(64), ...fields };
    let kept;
    for (let round = 0; round < 3; round++) { // the last time nothing is new
      collect();
      const before = process.memoryUsage();
      for (let i = 0; i < 2000; i++)
        dump.load(code);
      collect();
      const after = process.memoryUsage();
      kept = after.heapUsed - before.heapUsed + after.external - before.external;
    }
    assert.ok(kept < 10 * 2000, `${kept} bytes are kept of 2000 loads`);
  }
  dump.close();
});
