package jitdump_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"example.org/jitdump"
)

func open(t *testing.T, options jitdump.Options) *jitdump.Dump {
	t.Helper()
	options.Directory = t.TempDir()
	dump, err := jitdump.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dump.Close() })
	return dump
}

func wants(t *testing.T, err error, code jitdump.Error, text string) {
	t.Helper()
	if !errors.Is(err, code) || !strings.Contains(err.Error(), text) {
		t.Errorf("%v (%d), not error %d with %q", err, err, code, text)
	}
}

func TestOpenError(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	dump, err := jitdump.Open(jitdump.Options{Directory: missing})
	wants(t, err, jitdump.ERROR_DIRECTORY_MISSING, missing)
	if dump != nil {
		t.Error("there is a dump")
	}
}

func TestErrors(t *testing.T) {
	dump := open(t, jitdump.Options{Flags: jitdump.STRICT})
	bytes := make([]byte, 16)
	good := jitdump.Line{CodeAddr: 0x1000, Line: 1, File: "f"}
	for _, test := range []struct {
		code jitdump.Code
		err  jitdump.Error
		text string
	}{
		{jitdump.Code{CodeBytes: bytes}, jitdump.ERROR_NAME_MISSING, "name"},
		{jitdump.Code{Name: "f", CodeSize: 1}, jitdump.ERROR_CODE_MISSING, "code"},
		{jitdump.Code{Name: "f", CodeAddr: 0x1000, CodeBytes: bytes, Lines: []jitdump.Line{good, good}},
			jitdump.ERROR_LINES_ORDER, "ascend"},
		{jitdump.Code{Name: "f", CodeBytes: bytes, EhFrame: []byte{1}},
			jitdump.ERROR_UNWIND_SECTION, "eh_frame"},
		{jitdump.Code{Name: "f", CodeBytes: bytes, Unwind: &jitdump.Unwind{Frame: 7}},
			jitdump.ERROR_UNWIND_FRAME, "frame"},
		{jitdump.Code{Name: "f", CodeBytes: bytes, Tracks: make([]jitdump.Track, 1)},
			jitdump.ERROR_TRACK_EMPTY, "track"},
		{jitdump.Code{Name: "f", CodeBytes: bytes, Tier: 5}, jitdump.ERROR_TIER, "tier"},
	} {
		index, err := dump.Load(&test.code)
		wants(t, err, test.err, test.text)
		if index != 0 {
			t.Errorf("%v: code index %d", err, index)
		}
	}
	wants(t, dump.Move(0, 1, 2, 3), jitdump.ERROR_CODE_INDEX, "code_index")
	wants(t, dump.AppendRaw(1, bytes), jitdump.ERROR_RECORD_ID, "id")
	wants(t, dump.AppendRaw(99, []byte{}), jitdump.ERROR_RECORD_EMPTY, "payload")
	wants(t, dump.EmbedSource("", bytes), jitdump.ERROR_SOURCE_PATH, "path")
	_, err := dump.AddTier("t", 99, "")
	wants(t, err, jitdump.ERROR_TIER_COLOR, "colo")
	_, err = dump.UnwindSize(&jitdump.Code{Unwind: &jitdump.Unwind{Frame: 7}})
	wants(t, err, jitdump.ERROR_UNWIND_FRAME, "frame")
	_, err = jitdump.UnwindEhFrame(0, &jitdump.Code{})
	wants(t, err, jitdump.ERROR_ARGUMENT, "NULL")
	if err := dump.Flush(); err != nil {
		t.Error("an error has stuck:", err)
	}
}

// What does not fit into C is refused, and not cut off.
func TestNotC(t *testing.T) {
	dump := open(t, jitdump.Options{})
	_, openErr := jitdump.Open(jitdump.Options{Directory: "a\x00b"})
	_, tierErr := dump.AddTier("a\x00b", jitdump.COLOR_RED, "")
	_, nameErr := dump.Load(&jitdump.Code{Name: "a\x00b"})
	_, fileErr := dump.Load(&jitdump.Code{Name: "f", CodeBytes: []byte{0},
		Lines: []jitdump.Line{{Line: 1, File: "a\x00b"}}})
	_, sizeErr := dump.Load(&jitdump.Code{Name: "f", CodeSize: 2, CodeBytes: []byte{0}})
	sourceErr := dump.EmbedSource("a\x00b", nil)
	for _, err := range []error{openErr, tierErr, nameErr, fileErr, sizeErr, sourceErr} {
		var code jitdump.Error
		if err == nil || errors.As(err, &code) {
			t.Error("not refused here:", err)
		}
	}
}

func TestVersion(t *testing.T) {
	if jitdump.Version() < 100 {
		t.Error(jitdump.Version())
	}
}

func TestNoDump(t *testing.T) {
	var dump *jitdump.Dump
	index, err := dump.Load(&jitdump.Code{Name: "f"})
	if index != 0 || err != nil || dump.IsOpen() || dump.Path() != "" || dump.Flush() != nil ||
		dump.Close() != nil {
		t.Error("a nil dump does something")
	}
	dump = open(t, jitdump.Options{})
	if !dump.IsOpen() || dump.Close() != nil || dump.IsOpen() || dump.Close() != nil ||
		dump.Flush() != nil {
		t.Error("a closed dump does something")
	}
}

// A load with all that there may be takes no memory of Go's, once C's is there.
func TestLoadAllocatesNothing(t *testing.T) {
	dump := open(t, jitdump.Options{FlushMode: jitdump.FLUSH_BUFFERED})
	code := jitdump.Code{Name: "f", CodeAddr: 0x1000, CodeBytes: make([]byte, 64),
		Unwind: &jitdump.Unwind{Steps: []jitdump.Step{{CodeOffset: 1, Op: jitdump.UNWIND_FRAME_NONE}}}}
	withLines, withRows, withTrack := code, code, code
	for i := uint32(0); i < 20; i++ {
		withLines.Lines = append(withLines.Lines,
			jitdump.Line{CodeAddr: 0x1000 + uint64(i), Line: 1 + i, File: "file"})
		withRows.LineRows = append(withRows.LineRows, jitdump.LineRow{CodeOffset: i, Line: 1 + i})
	}
	withRows.Files = []string{"file"}
	withTrack.Tracks = []jitdump.Track{{Functions: []jitdump.Function{{Name: "f", File: "file"}},
		Positions: []jitdump.Position{{Line: 1, Caller: jitdump.NONE}},
		Offsets:   []jitdump.Offset{{}}}}
	for name, each := range map[string]jitdump.Code{"code": code, "lines": withLines, "rows": withRows,
		"track": withTrack} {
		allocations := testing.AllocsPerRun(1000, func() {
			if _, err := dump.Load(&each); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 0 {
			t.Errorf("%s: %v allocations for each load", name, allocations)
		}
	}
}
