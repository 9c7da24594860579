// Prints, for tests/bindings/ffi, what the Go compiler has made of the package's declarations:
//
//	go run ./layout PROGRAM
//
// Structs and constants are read from the debugging information of a program that uses the
// package, as debuggers do; the names of the functions from the package's source, which is in
// the current folder, since cgo takes their prototypes from the header itself.
package main

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"strings"
)

const (
	constants = "example.org/jitdump."
	structs   = "example.org/jitdump._Ctype_struct_"
)

type layout struct {
	Structs   map[string]*structLayout `json:"structs"`
	Constants map[string]int64         `json:"constants"`
	Functions map[string][]int64       `json:"functions"`
}

type structLayout struct {
	Size   int64               `json:"size"`
	Fields map[string][2]int64 `json:"fields"` // offset, size
}

func main() {
	log.SetFlags(0)
	l := layout{map[string]*structLayout{}, map[string]int64{}, map[string][]int64{}}
	if err := l.readProgram(os.Args[1]); err != nil {
		log.Fatalln("layout:", err)
	}
	if err := l.readSource("."); err != nil {
		log.Fatalln("layout:", err)
	}
	json.NewEncoder(os.Stdout).Encode(l)
}

func (l *layout) readProgram(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	data, err := file.DWARF()
	if err != nil {
		return err
	}
	for reader := data.Reader(); ; {
		entry, err := reader.Next()
		if entry == nil || err != nil {
			return err
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		switch {
		case entry.Tag == dwarf.TagConstant && strings.HasPrefix(name, constants):
			name = strings.TrimPrefix(name, constants)
			if token.IsExported(name) {
				l.Constants["JITDUMP_"+name] = entry.Val(dwarf.AttrConstValue).(int64)
			}
		case entry.Tag == dwarf.TagStructType && strings.HasPrefix(name, structs):
			found, err := data.Type(entry.Offset)
			if err != nil {
				return err
			}
			if s := found.(*dwarf.StructType); s.ByteSize > 0 { // one that is not opaque
				l.Structs[strings.TrimPrefix(name, structs)] = newStructLayout(s)
			}
		}
	}
}

func newStructLayout(s *dwarf.StructType) *structLayout {
	l := &structLayout{s.ByteSize, map[string][2]int64{}}
	for _, field := range s.Field {
		l.Fields[field.Name] = [2]int64{field.ByteOffset, field.Type.Size()}
	}
	return l
}

func (l *layout) readSource(folder string) error {
	packages, err := parser.ParseDir(token.NewFileSet(), folder, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(packages["jitdump"], func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if function, ok := call.Fun.(*ast.SelectorExpr); ok {
				if strings.HasPrefix(function.Sel.Name, "jitdump_") {
					l.Functions[function.Sel.Name] = nil
				}
			}
		}
		return true
	})
	return nil
}
