// Functions for AsmJit to generate, which run for so many seconds of processor time:
//
//     JITDUMP=1 run_asmjit SECONDS
//
// Their source is this file: each instruction comes from the line that has made it, and some bear
// its number in a constant. For who compares a profile with the truth, it prints where they are and
// what their lines are.
#include "jitdump_asmjit.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

using namespace asmjit;

// The constant by which an instruction shows its line.
#define MARK (0x4a440000 + __LINE__)
// An instruction of this line.
#define INS(instruction) (program.line(__LINE__), cc.instruction)

struct Program {
    CodeHolder holder;
    x86::Compiler cc;
    JitdumpCode described;
    // Name, start, end and lines of each function, for the truth.
    struct Truth {
        std::string name;
        Label start, end;
        std::vector<std::pair<Label, int>> lines;
    };
    std::vector<Truth> truths;

    Program(const JitRuntime &runtime, jitdump *dump) : described(dump, cc)
    {
        holder.init(runtime.environment());
        holder.attach(&cc);
    }

    FuncNode *begin(const char *name)
    {
        FuncNode *function = cc.addFunc(FuncSignatureT<uint64_t, uint64_t, uint64_t>());
        described.begin(function, name);
        truths.push_back({name, function->label(), {}, {}});
        return function;
    }

    void line(int number)
    {
        described.line(__FILE__, static_cast<uint32_t>(number));
        truths.back().lines.emplace_back(cc.newLabel(), number);
        cc.bind(truths.back().lines.back().first);
    }

    void end()
    {
        cc.endFunc();
        truths.back().end = cc.newLabel();
        cc.bind(truths.back().end);
        described.end();
    }
};

// x times a constant, rounds times.
static FuncNode *make_leaf(Program &program)
{
    auto &cc = program.cc;
    FuncNode *function = program.begin("leaf");
    x86::Gp x = cc.newUInt64(), y = cc.newUInt64(), i = cc.newUInt64();
    function->setArg(0, x);
    function->setArg(1, i);
    const Label next = cc.newLabel(), done = cc.newLabel();
    INS(test(i, i));
    INS(jz(done));
    cc.bind(next);
    INS(imul(x, x, MARK));
    INS(mov(y, x));
    INS(shr(y, 33));
    INS(xor_(x, y));
    INS(add(x, MARK));
    INS(dec(i));
    INS(jnz(next));
    cc.bind(done);
    INS(ret(x));
    program.end();
    return function;
}

// Calls another one, rounds times, with values that live across the calls.
static FuncNode *make_caller(Program &program, const char *name, FuncNode *callee)
{
    auto &cc = program.cc;
    FuncNode *function = program.begin(name);
    x86::Gp x = cc.newUInt64(), i = cc.newUInt64(), result = cc.newUInt64(), rounds = cc.newUInt64();
    std::vector<x86::Gp> values;
    function->setArg(0, x);
    function->setArg(1, i);
    const Label next = cc.newLabel(), done = cc.newLabel();
    INS(test(i, i));
    INS(jz(done));
    cc.bind(next);
    for (int n = 0; n < 8; n++) {
        values.push_back(cc.newUInt64());
        INS(imul(values.back(), x, 0x1111 + n));
    }
    INS(mov(rounds, i));
    INS(and_(rounds, 63));
    InvokeNode *call;
    INS(invoke(&call, callee->label(), FuncSignatureT<uint64_t, uint64_t, uint64_t>()));
    call->setArg(0, x);
    call->setArg(1, rounds);
    call->setRet(0, result);
    for (const x86::Gp &value : values)
        INS(xor_(result, value));
    INS(imul(x, result, MARK));
    INS(dec(i));
    INS(jnz(next));
    cc.bind(done);
    INS(ret(x));
    program.end();
    return function;
}

static void print_truth(const Program &program, const uint8_t *base)
{
    for (const auto &truth : program.truths) {
        const uint64_t start = program.holder.labelOffset(truth.start);
        const uint64_t end = program.holder.labelOffset(truth.end);
        std::printf("{\"function\": \"%s\", \"pid\": %d, \"addr\": %llu, \"size\": %llu, \"since\": 0, "
                    "\"file\": \"main.cpp\", \"lines\": [[0, 0, 1]", truth.name.c_str(), getpid(),
                    static_cast<unsigned long long>(reinterpret_cast<uint64_t>(base) + start),
                    static_cast<unsigned long long>(end - start));
        for (const auto &line : truth.lines)
            std::printf(", [%llu, %d, 1]", static_cast<unsigned long long>(
                                               program.holder.labelOffset(line.first) - start), line.second);
        std::printf("], \"code\": \"");
        for (uint64_t i = start; i < end; i++)
            std::printf("%02x", base[i]);
        std::printf("\"}\n");
    }
    std::fflush(stdout);
}

int main(int argc, char **argv)
{
    const double seconds = argc == 2 ? std::atof(argv[1]) : 1;
    jitdump *dump;
    jitdump_open_from_environment(&dump, nullptr);

    JitRuntime runtime;
    Program program(runtime, dump);
    FuncNode *leaf = make_leaf(program);
    FuncNode *middle = make_caller(program, "middle", leaf);
    FuncNode *outer = make_caller(program, "outer", middle);
    FuncNode *last = make_caller(program, "run", outer);
    uint8_t *base;
    Error error = program.cc.finalize();
    if (!error)
        error = runtime.add(&base, &program.holder);
    if (error) {
        std::fprintf(stderr, "run_asmjit: %s\n", DebugUtils::errorAsString(error));
        return 1;
    }
    program.described.load(program.holder, base);
    print_truth(program, base);

    auto *run = reinterpret_cast<uint64_t (*)(uint64_t, uint64_t)>(
        base + program.holder.labelOffset(last->label()));
    uint64_t x = 1;
    while (static_cast<double>(clock()) < seconds * CLOCKS_PER_SEC)
        x = run(x, 8);
    std::fprintf(stderr, "%llu\n", static_cast<unsigned long long>(x));
    jitdump_close(dump);
    return 0;
}
