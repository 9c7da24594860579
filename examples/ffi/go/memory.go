package jitdump

// #include <stdint.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// memory is C's, for one call at a time: what a C struct points to must not be Go's memory, which
// may move. It is used again by later calls, so that a load allocates nothing once there is enough.
type memory struct {
	block      unsafe.Pointer
	size, used uintptr
	// Blocks that became too small, and are in use to the call's end.
	full []unsafe.Pointer
	err  error // of what can't be said in C
}

const (
	memorySizeMin  = 16 << 10
	memorySizeKept = 1 << 20
)

var memories = sync.Pool{New: func() any {
	m := new(memory)
	runtime.SetFinalizer(m, (*memory).free)
	return m
}}

func newMemory() *memory { return memories.Get().(*memory) }

func (m *memory) release() {
	for _, block := range m.full {
		C.free(block)
	}
	if m.size > memorySizeKept {
		m.free()
	}
	m.full = m.full[:0]
	m.used, m.err = 0, nil
	memories.Put(m)
}

func (m *memory) free() {
	C.free(m.block)
	m.block, m.size = nil, 0
}

// alloc returns zeros, since Go's garbage collector looks at what is overwritten.
func (m *memory) alloc(size uintptr) unsafe.Pointer {
	size = (size + 16) &^ 15 // never nothing, whose address could be another's
	if m.size-m.used < size {
		m.grow(size)
	}
	start := unsafe.Add(m.block, m.used)
	m.used += size
	bytes := unsafe.Slice((*byte)(start), size)
	for i := range bytes {
		bytes[i] = 0
	}
	return start
}

func (m *memory) grow(size uintptr) {
	if m.block != nil {
		m.full = append(m.full, m.block)
	}
	m.size = 2*m.size + size + memorySizeMin
	m.block, m.used = C.malloc(C.size_t(m.size)), 0
}

func (m *memory) string(s string) *C.char {
	if strings.IndexByte(s, 0) >= 0 {
		m.err = fmt.Errorf("jitdump: there is a NUL in %q", s)
	}
	start := m.alloc(uintptr(len(s)) + 1)
	copy(unsafe.Slice((*byte)(start), len(s)), s)
	return (*C.char)(start)
}

// optionalString is NULL where "" means that there is none.
func (m *memory) optionalString(s string) *C.char {
	if s == "" {
		return nil
	}
	return m.string(s)
}

func (m *memory) bytes(b []byte) unsafe.Pointer {
	if b == nil {
		return nil
	}
	start := m.alloc(uintptr(len(b)))
	copy(unsafe.Slice((*byte)(start), len(b)), b)
	return start
}

// array converts a slice to a C array, and its length.
func array[To, From any](m *memory, from []From, convert func(From) To) (*To, C.uint64_t) {
	if len(from) == 0 {
		return nil, 0
	}
	first := (*To)(m.alloc(uintptr(len(from)) * unsafe.Sizeof(*new(To))))
	for i, to := 0, unsafe.Slice(first, len(from)); i < len(from); i++ {
		to[i] = convert(from[i])
	}
	return first, C.uint64_t(len(from))
}
