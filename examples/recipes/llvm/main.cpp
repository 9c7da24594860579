// Runs the function `run` of a bitcode file in LLVM's ORC:
//
//     run_bitcode LINKER WRITER FILE SECONDS
//
// LINKER: rtdyld or jitlink. WRITER, of the jitdump: ours, llvm (LLVM's own), or none. For who wants
// to compare a profile with the truth, it keeps the object file that LLVM has made, program.o, and
// prints where the functions are.
#include "jitdump_llvm.h"

#include <llvm/Config/llvm-config.h>
#if LLVM_VERSION_MAJOR >= 18
#include <llvm/ExecutionEngine/Orc/Debugging/PerfSupportPlugin.h>
#include <llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderPerf.h>
#endif
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectTransformLayer.h>
#include <llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include <ctime>
#include <string>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace llvm::orc;

static ExitOnError check("run_bitcode: ");

struct Options {
    std::string linker, writer, file;
    double seconds;
};

static std::unique_ptr<ObjectLayer> make_rtdyld(ExecutionSession &session, const Options &options,
                                                jitdump *dump)
{
    auto layer = std::make_unique<RTDyldObjectLinkingLayer>(
        session, [] { return std::make_unique<SectionMemoryManager>(); });
    if (options.writer == "ours")
        layer->registerJITEventListener(*make_jitdump_listener(dump).release());
    else if (options.writer == "llvm")
        layer->registerJITEventListener(*JITEventListener::createPerfJITEventListener());
    return layer;
}

static std::unique_ptr<ObjectLayer> make_jitlink(ExecutionSession &session, const Options &options,
                                                 jitdump *dump)
{
    auto layer = std::make_unique<ObjectLinkingLayer>(session);
    if (options.writer == "ours")
        layer->addPlugin(make_jitdump_plugin(dump));
#if LLVM_VERSION_MAJOR >= 18
    else if (options.writer == "llvm") {
        auto &control = session.getExecutorProcessControl();
        JITDylib &library = session.createBareJITDylib("<perf>");
        SymbolMap symbols;
        const auto define = [&](const char *name, auto *function) {
            symbols[session.intern(name)] = {ExecutorAddr::fromPtr(function), JITSymbolFlags::Exported};
        };
        define("llvm_orc_registerJITLoaderPerfStart", &llvm_orc_registerJITLoaderPerfStart);
        define("llvm_orc_registerJITLoaderPerfEnd", &llvm_orc_registerJITLoaderPerfEnd);
        define("llvm_orc_registerJITLoaderPerfImpl", &llvm_orc_registerJITLoaderPerfImpl);
        check(library.define(absoluteSymbols(symbols)));
        layer->addPlugin(check(PerfSupportPlugin::Create(control, library, true, true)));
    }
#endif
    return layer;
}

// Of a symbol that was looked up. LLVM 14 returns another type than those after it.
template <typename Symbol> static uint64_t address_of(const Symbol &symbol)
{
#if LLVM_VERSION_MAJOR < 15
    return symbol.getAddress();
#else
    return symbol.getValue();
#endif
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        errs() << "usage: run_bitcode rtdyld|jitlink ours|llvm|none FILE SECONDS\n";
        return 2;
    }
    const Options options = {argv[1], argv[2], argv[3], std::stod(argv[4])};
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();

    jitdump *dump = nullptr;
    if (options.writer == "ours") {
        char message[1024];
        jitdump_options open = {};
        open.struct_size = sizeof(open);
        open.error_message = message;
        open.error_message_size = sizeof(message);
        if (jitdump_open(&dump, &open) != 0) {
            errs() << message << '\n';
            return 1;
        }
    }

    auto context = std::make_unique<LLVMContext>();
    SMDiagnostic problem;
    auto module = parseIRFile(options.file, problem, *context);
    if (!module) {
        problem.print(argv[0], errs());
        return 1;
    }
    std::vector<std::string> names;
    for (const Function &function : *module)
        if (!function.isDeclaration())
            names.push_back(function.getName().str());

    auto jit = check(
        LLJITBuilder()
            .setObjectLinkingLayerCreator(
                [&](ExecutionSession &session, const Triple &) -> Expected<std::unique_ptr<ObjectLayer>> {
                    return options.linker == "jitlink" ? make_jitlink(session, options, dump)
                                                       : make_rtdyld(session, options, dump);
                })
            .create());
    jit->getObjTransformLayer().setTransform([](std::unique_ptr<MemoryBuffer> object) {
        std::error_code error;
        raw_fd_ostream("program.o", error) << object->getBuffer();
        return Expected<std::unique_ptr<MemoryBuffer>>(std::move(object));
    });
    jit->getMainJITDylib().addGenerator(check(DynamicLibrarySearchGenerator::GetForCurrentProcess(
        jit->getDataLayout().getGlobalPrefix())));
    check(jit->addIRModule(ThreadSafeModule(std::move(module), std::move(context))));

    for (const std::string &name : names)
        outs() << "{\"function\": \"" << name << "\", \"pid\": " << getpid()
               << ", \"addr\": " << address_of(check(jit->lookup(name))) << "}\n";
    if (dump)
        outs() << "{\"dump\": \"" << jitdump_path(dump) << "\", \"pid\": " << getpid() << "}\n";
    outs().flush();

    auto *run = reinterpret_cast<uint64_t (*)(uint64_t)>(address_of(check(jit->lookup("run"))));
    uint64_t sum = 0;
    while (static_cast<double>(clock()) < options.seconds * CLOCKS_PER_SEC)
        sum += run(1);
    errs() << sum << '\n';
    jitdump_close(dump);
    return 0;
}
