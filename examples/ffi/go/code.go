package jitdump

// #include <jitdump.h>
import "C"

import "fmt"

// Code is all about one piece of generated code.
type Code struct {
	Tier uint32
	Name string
	// CodeSize may be 0 where there are CodeBytes.
	CodeAddr, CodeSize  uint64
	CodeBytes           []byte
	Lines               []Line
	EhFrame, EhFrameHdr []byte
	// EhFrameAddr is needed for an EhFrame without header, since the library sees a copy of it.
	EhFrameAddr uint64
	// LineRows say the same as Lines, by indices of Files.
	LineRows []LineRow
	Files    []string
	Unwind   *Unwind
	Tracks   []Track
}

// Line is an entry of a line table; its address is absolute.
type Line struct {
	CodeAddr     uint64
	Line, Column uint32
	File         string
}

// LineRow is an entry of a line table by its offset; File is an index of Code.Files, or NONE.
type LineRow struct{ CodeOffset, File, Line, Column uint32 }

// Unwind describes the function's frame.
type Unwind struct {
	Frame uint32
	Steps []Step
}

// Step says what holds from an offset in the code on.
type Step struct {
	CodeOffset uint64
	Op, Reg    uint32
	Offset     int64
}

// Track describes where the code comes from, inlining included.
type Track struct {
	Name      string
	Functions []Function
	Positions []Position
	Offsets   []Offset
}

// Function of the source.
type Function struct {
	Name, File             string
	StartLine, StartColumn uint32
	Flags                  uint32
}

// Position in the source; Function and Caller are indices, or NONE.
type Position struct{ Function, Line, Column, Caller uint32 }

// Offset in the code, and the index of its position.
type Offset struct{ CodeOffset, Position uint32 }

func (code *Code) c(m *memory) (*C.struct_jitdump_code, error) {
	c := (*C.struct_jitdump_code)(m.alloc(C.sizeof_struct_jitdump_code))
	*c = C.struct_jitdump_code{
		struct_size:       C.sizeof_struct_jitdump_code,
		tier:              C.uint32_t(code.Tier),
		name:              m.string(code.Name),
		code_addr:         C.uint64_t(code.CodeAddr),
		code_size:         C.uint64_t(code.CodeSize),
		code_bytes:        m.bytes(code.CodeBytes),
		eh_frame:          m.bytes(code.EhFrame),
		eh_frame_size:     C.uint64_t(len(code.EhFrame)),
		eh_frame_hdr:      m.bytes(code.EhFrameHdr),
		eh_frame_hdr_size: C.uint64_t(len(code.EhFrameHdr)),
		eh_frame_addr:     C.uint64_t(code.EhFrameAddr),
		unwind:            code.Unwind.c(m),
	}
	if length := uint64(len(code.CodeBytes)); code.CodeBytes != nil && code.CodeSize == 0 {
		c.code_size = C.uint64_t(length)
	} else if code.CodeBytes != nil && code.CodeSize != length {
		m.err = fmt.Errorf("jitdump: %d CodeBytes, but CodeSize is %d", length, code.CodeSize)
	}
	c.lines, c.line_count = array(m, code.Lines, func(l Line) C.struct_jitdump_line {
		return C.struct_jitdump_line{code_addr: C.uint64_t(l.CodeAddr), line: C.uint32_t(l.Line),
			column: C.uint32_t(l.Column), file: m.string(l.File)}
	})
	c.line_rows, c.line_row_count = array(m, code.LineRows,
		func(r LineRow) C.struct_jitdump_line_row {
			return C.struct_jitdump_line_row{code_offset: C.uint32_t(r.CodeOffset),
				file: C.uint32_t(r.File), line: C.uint32_t(r.Line), column: C.uint32_t(r.Column)}
		})
	c.files, c.file_count = array(m, code.Files, func(f string) C.struct_jitdump_string {
		return C.struct_jitdump_string{bytes: m.string(f), size: C.uint64_t(len(f))}
	})
	c.tracks, c.track_count = array(m, code.Tracks, func(t Track) C.struct_jitdump_track {
		return t.c(m)
	})
	return c, m.err
}

func (unwind *Unwind) c(m *memory) *C.struct_jitdump_unwind {
	if unwind == nil {
		return nil
	}
	c := (*C.struct_jitdump_unwind)(m.alloc(C.sizeof_struct_jitdump_unwind))
	c.struct_size = C.sizeof_struct_jitdump_unwind
	c.frame = C.uint32_t(unwind.Frame)
	c.steps, c.step_count = array(m, unwind.Steps, func(s Step) C.struct_jitdump_unwind_step {
		return C.struct_jitdump_unwind_step{code_offset: C.uint64_t(s.CodeOffset),
			op: C.uint32_t(s.Op), reg: C.uint32_t(s.Reg), offset: C.int64_t(s.Offset)}
	})
	return c
}

func (track *Track) c(m *memory) (c C.struct_jitdump_track) {
	c.struct_size = C.sizeof_struct_jitdump_track
	c.name = m.optionalString(track.Name)
	c.functions, c.function_count = array(m, track.Functions,
		func(f Function) C.struct_jitdump_function {
			return C.struct_jitdump_function{name: m.string(f.Name), file: m.optionalString(f.File),
				start_line: C.uint32_t(f.StartLine), start_column: C.uint32_t(f.StartColumn),
				flags: C.uint32_t(f.Flags)}
		})
	c.positions, c.position_count = array(m, track.Positions,
		func(p Position) C.struct_jitdump_position {
			return C.struct_jitdump_position{function: C.uint32_t(p.Function), line: C.uint32_t(p.Line),
				column: C.uint32_t(p.Column), caller: C.uint32_t(p.Caller)}
		})
	c.offsets, c.offset_count = array(m, track.Offsets, func(o Offset) C.struct_jitdump_offset {
		return C.struct_jitdump_offset{code_offset: C.uint32_t(o.CodeOffset),
			position: C.uint32_t(o.Position)}
	})
	return c
}
