// The smallest honest JIT in Go: one function, described to profilers, and run for about a
// second. Its source is this file: each instruction comes from the line in which its bytes stand.
package main

// #include <stdint.h>
// static uint64_t call(uintptr_t code, uint64_t argument) {
//     return ((uint64_t (*)(uint64_t))code)(argument);
// }
// static void clear_cache(uintptr_t begin, uintptr_t end) {
//     __builtin___clear_cache((char *)begin, (char *)end);
// }
import "C"

import (
	"encoding/hex"
	"encoding/json"
	"log"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"example.org/jitdump"
)

type instruction struct {
	line  int
	bytes []byte
}

func at(bytes ...byte) instruction {
	_, _, line, _ := runtime.Caller(1)
	return instruction{line, bytes}
}

// Adds up the numbers from its argument down to 1.
var instructions = map[string][]instruction{
	"amd64": {
		at(0x31, 0xc0),       // xor %eax, %eax
		at(0x48, 0x01, 0xf8), // add %rdi, %rax    (the loop)
		at(0x48, 0xff, 0xcf), // dec %rdi
		at(0x75, 0xf8),       // jnz the loop
		at(0xc3),             // ret
	},
	"arm64": {
		at(0xe1, 0x03, 0x1f, 0xaa), // mov  x1, xzr
		at(0x21, 0x00, 0x00, 0x8b), // add  x1, x1, x0    (the loop)
		at(0x00, 0x04, 0x00, 0xf1), // subs x0, x0, #1
		at(0xc1, 0xff, 0xff, 0x54), // b.ne the loop
		at(0xe0, 0x03, 0x01, 0xaa), // mov  x0, x1
		at(0xc0, 0x03, 0x5f, 0xd6), // ret
	},
}[runtime.GOARCH]

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatalln("hello:", err)
	}
}

func run() error {
	dump, err := jitdump.Open(jitdump.Options{})
	if err != nil {
		return err
	}
	defer dump.Close()

	memory, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return err
	}
	addr := uintptr(unsafe.Pointer(&memory[0]))
	_, file, _, _ := runtime.Caller(0)
	var lines []jitdump.Line
	var size uint64
	for _, i := range instructions {
		lines = append(lines, jitdump.Line{
			CodeAddr: uint64(addr) + size, Line: uint32(i.line), File: file})
		size += uint64(copy(memory[size:], i.bytes))
	}
	if err := syscall.Mprotect(memory, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		return err
	}
	C.clear_cache(C.uintptr_t(addr), C.uintptr_t(addr)+C.uintptr_t(size))

	code := jitdump.Code{Name: "hello_from_go", CodeAddr: uint64(addr), CodeSize: size, Lines: lines}
	if _, err := dump.Load(&code); err != nil { // written, and not yet run
		return err
	}
	for round := 0; round < 2000; round++ {
		C.call(C.uintptr_t(addr), 1000000)
	}
	return describe(dump, &code, memory[:size])
}

// What is true, for tests/bindings/ffi to compare with what perf has seen.
func describe(dump *jitdump.Dump, code *jitdump.Code, bytes []byte) error {
	lines := [][]uint64{}
	for _, l := range code.Lines {
		lines = append(lines, []uint64{l.CodeAddr - code.CodeAddr, uint64(l.Line), 1})
	}
	out := json.NewEncoder(os.Stdout)
	out.Encode(map[string]any{"dump": dump.Path(), "pid": os.Getpid()})
	return out.Encode(map[string]any{"function": code.Name, "pid": os.Getpid(), "addr": code.CodeAddr,
		"size": code.CodeSize, "since": 0, "file": code.Lines[0].File, "lines": lines,
		"code": hex.EncodeToString(bytes)})
}
