package jitdump_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"example.org/jitdump"
)

// The same calls as in tests/bindings/ffi/contents.c, whose dump is compared with this one.
func TestContents(t *testing.T) {
	const EM_X86_64 = 62
	no := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	directory := os.Getenv("JITDUMP_TESTS_CONTENTS")
	if directory == "" {
		directory = t.TempDir()
	}
	dump, err := jitdump.Open(jitdump.Options{
		Flags:         jitdump.OUTERMOST_LINES | jitdump.TIER_RECORDS,
		FlushMode:     jitdump.FLUSH_BUFFERED,
		ElfMach:       EM_X86_64,
		Dialect:       jitdump.DIALECT_SAMPLY_2023,
		FlushBytes:    4096,
		FlushInterval: time.Hour,
		SizeLimit:     8192,
		Directory:     directory,
		Track:         "second",
	})
	no(err)
	if !strings.Contains(dump.Warning, "no profiler") {
		t.Error("no warning:", dump.Warning)
	}
	no(dump.AppendRaw(1000, make([]byte, 3500)))
	firstTier, err := dump.AddTier("first", jitdump.COLOR_RED, "")
	no(err)
	secondTier, err := dump.AddTier("second", jitdump.COLOR_GREEN, "Second: ")
	no(err)
	no(dump.EmbedSource("a.src", []byte("one\ntwo\n")))

	bytes := make([]byte, 24)
	for i := range bytes {
		bytes[i] = byte(i + 1)
	}
	_, err = dump.Load(&jitdump.Code{
		Tier: firstTier, Name: "with lines", CodeAddr: 0x10000, CodeBytes: bytes[:16],
		Lines: []jitdump.Line{
			{CodeAddr: 0x10000, Line: 1, Column: 2, File: "a.src"},
			{CodeAddr: 0x10008, Line: 3, Column: 4, File: "b.src"},
		}})
	no(err)
	_, err = dump.Load(&jitdump.Code{Name: "with frame", CodeAddr: 0x20000, CodeBytes: bytes,
		Unwind: &jitdump.Unwind{Frame: jitdump.FRAME_POINTER}})
	no(err)

	functions := []jitdump.Function{
		{Name: "outer", File: "a.src", StartLine: 5, StartColumn: 6, Flags: 7},
		{Name: "inner", File: "b.src", StartLine: 8, StartColumn: 9, Flags: 10},
	}
	positions := []jitdump.Position{
		{Function: 0, Line: 11, Column: 12, Caller: jitdump.NONE},
		{Function: 1, Line: 13, Column: 14, Caller: 0},
	}
	offsets := []jitdump.Offset{{CodeOffset: 2, Position: 0}, {CodeOffset: 4, Position: 1}}
	withTrack := &jitdump.Code{
		Tier: secondTier, Name: "with träck", CodeAddr: 0x30000, CodeBytes: bytes[:16],
		Unwind: &jitdump.Unwind{Frame: jitdump.FRAME_STEPS, Steps: []jitdump.Step{
			{CodeOffset: 1, Op: jitdump.UNWIND_DEF_CFA, Reg: jitdump.X86_64_RSP, Offset: 16},
			{CodeOffset: 1, Op: jitdump.UNWIND_OFFSET, Reg: jitdump.X86_64_RBX, Offset: -16},
			{CodeOffset: 9, Op: jitdump.UNWIND_DEF_CFA, Reg: jitdump.X86_64_RSP, Offset: 8},
		}},
		Tracks: []jitdump.Track{
			{Name: "first", Functions: functions[:1], Positions: positions[:1], Offsets: offsets[:1]},
			{Name: "second", Functions: functions, Positions: positions, Offsets: offsets},
		}}
	index, err := dump.Load(withTrack)
	no(err)
	unwindSize, err := dump.UnwindSize(withTrack)
	no(err)
	no(dump.Move(index, 0x30000, 0x40000, 16+unwindSize))
	_, err = dump.Load(&jitdump.Code{Name: "with eh_frame", CodeAddr: 0x50000,
		CodeBytes: bytes[:16], EhFrame: bytes, EhFrameHdr: bytes[:20]})
	no(err)
	ehFrame, err := jitdump.UnwindEhFrame(EM_X86_64, withTrack)
	no(err)
	no(dump.AppendRaw(1001, ehFrame))
	no(dump.Flush())
	no(dump.FlushFromSignal())

	err = dump.AppendRaw(1002, make([]byte, 8192))
	if closeErr := dump.Close(); err != closeErr || !errors.Is(err, jitdump.ERROR_SIZE_LIMIT) {
		t.Error(err, closeErr)
	}
}
