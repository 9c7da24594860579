// Runs the function `run` of a bitcode file in LLVM's ORC, for so many seconds of processor time:
//
//     JITDUMP=1 run_bitcode jitlink|rtdyld FILE SECONDS [llvm]
//
// llvm: described by what LLVM has for it, to compare. For that too the object file that LLVM makes
// is kept, program.o, and printed is where its functions are.
#include "jitdump_llvm.h"

#include <llvm/Config/llvm-config.h>
#if LLVM_VERSION_MAJOR >= 18
#include <llvm/ExecutionEngine/Orc/Debugging/DebugInfoSupport.h>
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

static std::unique_ptr<ObjectLayer> make_rtdyld(ExecutionSession &session, jitdump *dump,
                                                bool by_llvm)
{
    if (!by_llvm)
        return make_jitdump_rtdyld_layer(session, dump);
    auto layer = std::make_unique<RTDyldObjectLinkingLayer>(
        session, [](auto &&...) { return std::make_unique<SectionMemoryManager>(); });
    layer->registerJITEventListener(*JITEventListener::createPerfJITEventListener());
    return layer;
}

static std::unique_ptr<ObjectLayer> make_jitlink(ExecutionSession &session, jitdump *dump,
                                                 bool by_llvm)
{
    auto layer = std::make_unique<ObjectLinkingLayer>(session);
    if (!by_llvm)
        layer->addPlugin(make_jitdump_plugin(dump));
#if LLVM_VERSION_MAJOR >= 18
    else {
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
        layer->addPlugin(check(DebugInfoPreservationPlugin::Create()));
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
    const bool by_llvm = argc == 5 && std::string(argv[4]) == "llvm";
    if (argc != 4 && !by_llvm) {
        errs() << "usage: run_bitcode jitlink|rtdyld FILE SECONDS [llvm]\n";
        return 2;
    }
    const std::string linker = argv[1], file = argv[2];
    const double seconds = std::stod(argv[3]);
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();

    jitdump *dump;
    jitdump_open_from_environment(&dump, nullptr);

    auto context = std::make_unique<LLVMContext>();
    SMDiagnostic problem;
    auto module = parseIRFile(file, problem, *context);
    if (!module) {
        problem.print(argv[0], errs());
        return 1;
    }
    std::vector<std::string> names;
    for (const Function &function : *module)
        if (!function.isDeclaration())
            names.push_back(function.getName().str());

    auto target = check(JITTargetMachineBuilder::detectHost());
    target.getOptions().FunctionSections = true;
    auto jit = check(
        LLJITBuilder()
            .setJITTargetMachineBuilder(target)
            .setObjectLinkingLayerCreator(
                [&](ExecutionSession &session, const Triple &) -> Expected<std::unique_ptr<ObjectLayer>> {
                    return linker == "jitlink" ? make_jitlink(session, dump, by_llvm)
                                               : make_rtdyld(session, dump, by_llvm);
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
               << ", \"addr\": " << address_of(check(jit->lookup(name)))
               << ", \"object\": \"program.o\"}\n";
    outs().flush();

    auto *run = reinterpret_cast<uint64_t (*)(uint64_t)>(address_of(check(jit->lookup("run"))));
    uint64_t sum = 0;
    while (static_cast<double>(clock()) < seconds * CLOCKS_PER_SEC)
        sum += run(1);
    errs() << sum << '\n';
    jitdump_close(dump);
    return 0;
}
