// The smallest honest JIT in Node.js: one function, described to profilers, and run for about
// a second. Its source is this file: each instruction comes from the line in which its
// bytes stand.
import { fileURLToPath } from 'node:url';
import koffi from 'koffi';

import { Dump } from './jitdump.js';

const PROT_READ = 1;
const PROT_WRITE = 2;
const PROT_EXEC = 4;
const MAP_PRIVATE = 2;
const MAP_ANONYMOUS = 32;
const MAP_FAILED = 2n ** 64n - 1n;

const libc = koffi.load('libc.so.6');
const mmap = libc.func(
  'void *mmap(void *addr, size_t length, int prot, int flags, int fd, int64_t offset)');
const mprotect = libc.func('int mprotect(void *addr, size_t length, int prot)');
const clearCache = koffi.load('libgcc_s.so.1').func('void __clear_cache(void *begin, void *end)');

function at(...bytes) {
  const line = Number(new Error().stack.split('\n')[2].match(/:(\d+):\d+\)?$/)[1]);
  return { line, bytes };
}

// Adds up the numbers from its argument down to 1.
const instructions = {
  x64: [
    at(0x31, 0xc0),       // xor %eax, %eax
    at(0x48, 0x01, 0xf8), // add %rdi, %rax    (the loop)
    at(0x48, 0xff, 0xcf), // dec %rdi
    at(0x75, 0xf8),       // jnz the loop
    at(0xc3),             // ret
  ],
  arm64: [
    at(0xe1, 0x03, 0x1f, 0xaa), // mov  x1, xzr
    at(0x21, 0x00, 0x00, 0x8b), // add  x1, x1, x0    (the loop)
    at(0x00, 0x04, 0x00, 0xf1), // subs x0, x0, #1
    at(0xc1, 0xff, 0xff, 0x54), // b.ne the loop
    at(0xe0, 0x03, 0x01, 0xaa), // mov  x0, x1
    at(0xc0, 0x03, 0x5f, 0xd6), // ret
  ],
}[process.arch];

const dump = Dump.open();

const memory = mmap(null, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
if (memory === MAP_FAILED)
  throw new Error('mmap has failed');
const file = fileURLToPath(import.meta.url);
const lines = [];
const bytes = [];
for (const instruction of instructions) {
  lines.push({ codeAddr: memory + BigInt(bytes.length), line: instruction.line, file });
  bytes.push(...instruction.bytes);
}
koffi.encode(memory, koffi.array('uint8_t', bytes.length), bytes);
if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) !== 0)
  throw new Error('mprotect has failed');
clearCache(memory, memory + BigInt(bytes.length));

// Written, and not yet run.
dump.load({ name: 'hello_from_node', codeAddr: memory, codeSize: bytes.length, lines });

const hello = koffi.decode(memory, koffi.proto('uint64_t hello(uint64_t)'));
for (let round = 0; round < 2000; round++)
  hello(1000000);

// What is true, for tests/bindings/ffi to compare with what perf has seen.
console.log(JSON.stringify({ dump: dump.path, pid: process.pid }));
console.log(JSON.stringify({
  function: 'hello_from_node', pid: process.pid, addr: Number(memory), size: bytes.length, since: 0,
  file,
  lines: lines.map(({ codeAddr, line }) => [Number(codeAddr - memory), line, 1]),
  code: Buffer.from(bytes).toString('hex'),
}));
dump.close();
