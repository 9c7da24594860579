// Describes what LLVM's ORC generates to libjitdump: names, lines with inlined calls, call frames.
// For both of ORC's linkers. LLVM 14 and newer.
//
// perf needs room behind each function for its frames, and so each needs a section of its own:
// set TargetOptions::FunctionSections.
#ifndef JITDUMP_LLVM_H
#define JITDUMP_LLVM_H

#include <jitdump.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h>

#include <memory>

// For JITLink: layer.addPlugin(make_jitdump_plugin(dump)).
std::unique_ptr<llvm::orc::ObjectLinkingLayer::Plugin> make_jitdump_plugin(jitdump *dump);

// For RTDyld: the layer itself.
std::unique_ptr<llvm::orc::RTDyldObjectLinkingLayer>
make_jitdump_rtdyld_layer(llvm::orc::ExecutionSession &session, jitdump *dump);

#endif
