// Package jitdump makes generated machine code visible in perf and samply, by libjitdump.
// The manual is the library's header, jitdump.h: each method here is the function of that
// name, and each field the field.
//
// The calls are made from the thread that the goroutine runs on at the time, whose id is the
// tid of the records. A goroutine that generates code and runs it on one thread calls
// runtime.LockOSThread() before; names and lines are found without that too.
package jitdump

// #cgo pkg-config: jitdump
// #include <jitdump.h>
import "C"

import (
	"time"
	"unsafe"
)

// Error is one of the constants ERROR_*; its text is the library's.
type Error int32

func (e Error) Error() string { return C.GoString(C.jitdump_strerror(C.int(e))) }

// OpenError says what Open failed on, with the path. It wraps the Error.
type OpenError struct {
	Code    Error
	Message string
}

func (e *OpenError) Error() string { return e.Message }
func (e *OpenError) Unwrap() error { return e.Code }

func check(result C.int) error {
	if result == 0 {
		return nil
	}
	return Error(result)
}

// Dump is an open dump. All methods may be called on a nil *Dump, and do nothing then, so that
// a program which is not being profiled needs no "if".
type Dump struct {
	handle *C.struct_jitdump
	// Warning is "", or says that what was asked for is of less use than it seems.
	Warning string
}

func (d *Dump) c() *C.struct_jitdump {
	if d == nil {
		return nil
	}
	return d.handle
}

// IsOpen says whether there is a dump, so that line tables need not be collected in vain.
func (d *Dump) IsOpen() bool { return d.c() != nil }

// Options of a dump; the zero value is a good choice.
type Options struct {
	Flags, Clock, FlushMode uint32
	ElfMach, Dialect        uint32
	FlushBytes              uint64
	FlushInterval           time.Duration
	SizeLimit               uint64
	Directory, Track        string
	Descriptor              uintptr // as os.File.Fd has it; 0: none
}

// Open creates the dump. Call it before the first generated code runs.
func Open(options Options) (*Dump, error) {
	return open(options, false)
}

// OpenFromEnvironment creates the dump if $JITDUMP asks for one, whose words change the options.
// If it does not, the dump is none: all calls do nothing.
func OpenFromEnvironment(defaults Options) (*Dump, error) {
	return open(defaults, true)
}

func open(options Options, fromEnvironment bool) (*Dump, error) {
	const messageSize = 1024
	m := newMemory()
	defer m.release()
	message := (*C.char)(m.alloc(messageSize))
	c := (*C.struct_jitdump_options)(m.alloc(C.sizeof_struct_jitdump_options))
	C.jitdump_options_init(c, C.sizeof_struct_jitdump_options)
	c.flags = C.uint32_t(options.Flags)
	c.clock = C.uint32_t(options.Clock)
	c.flush_mode = C.uint32_t(options.FlushMode)
	c.elf_mach = C.uint32_t(options.ElfMach)
	c.dialect = C.uint32_t(options.Dialect)
	c.flush_bytes = C.uint64_t(options.FlushBytes)
	c.flush_interval_ns = C.uint64_t(options.FlushInterval.Nanoseconds())
	c.size_limit = C.uint64_t(options.SizeLimit)
	c.directory = m.optionalString(options.Directory)
	c.error_message = message
	c.error_message_size = messageSize
	c.track = m.optionalString(options.Track)
	c.descriptor = C.uint64_t(options.Descriptor)
	if m.err != nil {
		return nil, m.err
	}
	d := &Dump{}
	var result C.int
	if fromEnvironment {
		result = C.jitdump_open_from_environment(&d.handle, c)
	} else {
		result = C.jitdump_open(&d.handle, c)
	}
	if result != 0 {
		return nil, &OpenError{Error(result), C.GoString(message)}
	}
	d.Warning = C.GoString(message)
	return d, nil
}

// AfterFork is for the child of a fork, where a dump was opened with NO_ATFORK.
func AfterFork() { C.jitdump_after_fork() }

// Close completes the dump. No other call may be under way; those that follow do nothing.
func (d *Dump) Close() error {
	handle := d.c()
	if handle == nil {
		return nil
	}
	d.handle = nil
	return check(C.jitdump_close(handle))
}

// Path is the dump's, or "" where there is none.
func (d *Dump) Path() string { return C.GoString(C.jitdump_path(d.c())) }

// Load describes a function that is written and has not run yet. The index is for Move.
func (d *Dump) Load(code *Code) (index uint64, err error) {
	return d.ask(code, func(c *C.struct_jitdump_code, index *C.uint64_t) C.int {
		return C.jitdump_load(d.c(), c, index)
	})
}

// LoadMany describes many functions at once. The index of one that has an error is 0, and the first
// error is returned.
func (d *Dump) LoadMany(codes []Code) (indices []uint64, err error) {
	indices = make([]uint64, len(codes))
	if !d.IsOpen() || len(codes) == 0 {
		return indices, nil
	}
	m := newMemory()
	defer m.release()
	all, _ := array(m, codes, func(code Code) C.struct_jitdump_code {
		c, _ := code.c(m)
		return *c
	})
	if m.err != nil {
		return indices, m.err
	}
	err = check(C.jitdump_load_many(d.c(), all, C.uint64_t(len(codes)),
		(*C.uint64_t)(unsafe.Pointer(&indices[0]))))
	return indices, err
}

// UnwindSize says how many bytes to leave free behind the function's code.
func (d *Dump) UnwindSize(code *Code) (size uint64, err error) {
	return d.ask(code, func(c *C.struct_jitdump_code, size *C.uint64_t) C.int {
		return C.jitdump_unwind_size(d.c(), c, size)
	})
}

func (d *Dump) ask(code *Code,
	call func(*C.struct_jitdump_code, *C.uint64_t) C.int) (answer uint64, err error) {
	if !d.IsOpen() {
		return 0, nil
	}
	m := newMemory()
	defer m.release()
	c, err := code.c(m)
	if err != nil {
		return 0, err
	}
	place := (*C.uint64_t)(m.alloc(C.sizeof_uint64_t))
	err = check(call(c, place))
	return uint64(*place), err
}

// UnwindEhFrame makes an .eh_frame section of code.Unwind, for other uses than profiling.
func UnwindEhFrame(elfMach uint32, code *Code) ([]byte, error) {
	m := newMemory()
	defer m.release()
	c, err := code.c(m)
	if err != nil {
		return nil, err
	}
	var size C.uint64_t
	result := C.jitdump_unwind_eh_frame(C.uint32_t(elfMach), c, nil, 0, &size)
	if result != 0 && Error(result) != ERROR_UNWIND_CAPACITY {
		return nil, Error(result)
	}
	bytes := make([]byte, size)
	result = C.jitdump_unwind_eh_frame(C.uint32_t(elfMach), c, unsafe.Pointer(&bytes[0]), size, &size)
	return bytes, check(result)
}

// Move says that a function's code was moved.
func (d *Dump) Move(codeIndex, oldCodeAddr, newCodeAddr, codeSize uint64) error {
	return check(C.jitdump_move(d.c(), C.uint64_t(codeIndex), C.uint64_t(oldCodeAddr),
		C.uint64_t(newCodeAddr), C.uint64_t(codeSize)))
}

// AddTier makes a tier known, for Code.Tier; color is one of COLOR_*.
func (d *Dump) AddTier(name string, color uint32, namePrefix string) (tier uint32, err error) {
	m := newMemory()
	defer m.release()
	cName, cPrefix := m.string(name), m.optionalString(namePrefix)
	if m.err != nil {
		return 0, m.err
	}
	err = check(C.jitdump_add_tier(d.c(), cName, C.uint32_t(color), cPrefix, (*C.uint32_t)(&tier)))
	return tier, err
}

// EmbedSource gives the text of a source that is in no file.
func (d *Dump) EmbedSource(path string, source []byte) error {
	m := newMemory()
	defer m.release()
	cPath := m.string(path)
	if m.err != nil {
		return m.err
	}
	return check(C.jitdump_embed_source(d.c(), cPath, m.bytes(source), C.uint64_t(len(source))))
}

// AppendRaw appends a record of an id that the library does not know.
func (d *Dump) AppendRaw(id uint32, payload []byte) error {
	m := newMemory()
	defer m.release()
	return check(C.jitdump_append_raw(d.c(), C.uint32_t(id), m.bytes(payload),
		C.uint64_t(len(payload))))
}

// Flush returns when everything that was appended before is written.
func (d *Dump) Flush() error { return check(C.jitdump_flush(d.c())) }

// FlushFromSignal writes what it can without waiting. Go's own signal handling runs in ordinary
// goroutines, where Flush does as well; this is for a crash that leaves no time to wait.
func (d *Dump) FlushFromSignal() error { return check(C.jitdump_flush_from_signal(d.c())) }

// Version of the library that is loaded: major * 10000 + minor * 100 + patch.
func Version() uint32 { return uint32(C.jitdump_version()) }
