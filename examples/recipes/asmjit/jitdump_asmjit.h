// Describes what AsmJit's compiler generates to libjitdump: names, lines, call frames.
#ifndef JITDUMP_ASMJIT_H
#define JITDUMP_ASMJIT_H

#include <asmjit/asmjit.h>
#include <jitdump.h>

#include <string>
#include <vector>

// The functions of one CodeHolder. Without a dump it does nothing.
class JitdumpCode {
public:
    JitdumpCode(jitdump *dump, asmjit::BaseCompiler &compiler) : dump(dump), compiler(compiler) {}

    // After addFunc(): a function, which gets a frame pointer, so that its frame is known.
    void begin(asmjit::FuncNode *function, const char *name)
    {
        if (!dump)
            return;
        function->frame().setPreservedFP();
        functions.push_back({name, function->label(), {}, {}});
    }

    // What is emitted from here on comes from this line. `file` is kept as it is.
    void line(const char *file, uint32_t line)
    {
        if (!dump)
            return;
        const asmjit::Label label = compiler.newLabel();
        compiler.bind(label);
        functions.back().lines.push_back({label, file, line});
    }

    // After endFunc(): leaves room for what perf puts behind the function.
    void end()
    {
        if (!dump)
            return;
        functions.back().end = compiler.newLabel();
        compiler.bind(functions.back().end);
        jitdump_code code = {};
        code.struct_size = sizeof(code);
        code.code_size = 64; // any: the frame takes as much whatever it is, and up to 7 bytes
        code.unwind = &frame;
        uint64_t room = 0;
        jitdump_unwind_size(dump, &code, &room);
        const uint8_t zero = 0;
        compiler.embedDataArray(asmjit::TypeId::kUInt8, &zero, 1, room + 7);
        compiler.align(asmjit::AlignMode::kZero, 16);
    }

    // After JitRuntime::add(), which has said where the code is.
    void load(const asmjit::CodeHolder &holder, const void *base) const
    {
        const auto address = [&](const asmjit::Label &label) {
            return reinterpret_cast<uint64_t>(base) + holder.labelOffset(label);
        };
        for (const Function &function : functions) {
            std::vector<jitdump_line> lines;
            for (const Line &line : function.lines)
                lines.push_back({address(line.label), line.line, 0, line.file});
            jitdump_code code = {};
            code.struct_size = sizeof(code);
            code.name = function.name.c_str();
            code.code_addr = address(function.start);
            code.code_size = address(function.end) - code.code_addr;
            code.lines = lines.data();
            code.line_count = lines.size();
            code.unwind = &frame;
            jitdump_load(dump, &code, nullptr); // of errors JITDUMP=debug tells
        }
    }

private:
    struct Line {
        asmjit::Label label;
        const char *file;
        uint32_t line;
    };
    struct Function {
        std::string name;
        asmjit::Label start, end;
        std::vector<Line> lines;
    };

    // AsmJit's prologue and epilogue with a frame pointer are the standard ones.
    static constexpr jitdump_unwind frame = {sizeof(jitdump_unwind), JITDUMP_FRAME_POINTER, nullptr, 0};

    jitdump *dump;
    asmjit::BaseCompiler &compiler;
    std::vector<Function> functions;
};

#endif
