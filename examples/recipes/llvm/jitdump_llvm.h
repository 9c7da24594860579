// Describes what LLVM's ORC generates to libjitdump: names, lines with inlined calls, call frames.
// For both of ORC's linkers. LLVM 14 and newer.
#ifndef JITDUMP_LLVM_H
#define JITDUMP_LLVM_H

#include <jitdump.h>
#include <llvm/ExecutionEngine/JITEventListener.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <memory>

// For RTDyldObjectLinkingLayer: layer.registerJITEventListener(*listener).
std::unique_ptr<llvm::JITEventListener> make_jitdump_listener(jitdump *dump);

// For JITLink: layer.addPlugin(make_jitdump_plugin(dump)).
std::unique_ptr<llvm::orc::ObjectLinkingLayer::Plugin> make_jitdump_plugin(jitdump *dump);

#endif
