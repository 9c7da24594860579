#include "jitdump_llvm.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Object/SymbolSize.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace llvm;

namespace {

// A function's lines and inlined calls, as LLVM's reader of DWARF knows them.
class Description {
public:
    Description(DWARFContext &dwarf, object::SectionedAddress start, uint64_t size)
    {
        const DILineInfoSpecifier specifier(DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
                                            DINameKind::LinkageName);
        for (const auto &row : dwarf.getLineInfoForAddressRange(start, size, specifier)) {
            const object::SectionedAddress address{row.first, start.SectionIndex};
            const auto chain = dwarf.getInliningInfoForAddress(address, specifier);
            uint32_t position = JITDUMP_NONE;
            for (uint32_t i = chain.getNumberOfFrames(); i-- > 0;)
                position = add(chain.getFrame(i), position);
            const auto offset = static_cast<uint32_t>(row.first - start.Address);
            if (!offsets.empty() && offsets.back().code_offset == offset)
                offsets.pop_back(); // the last row of an address counts
            offsets.push_back({offset, position});
        }
        track.struct_size = sizeof(track);
        track.functions = functions.data();
        track.function_count = functions.size();
        track.positions = positions.data();
        track.position_count = positions.size();
        track.offsets = offsets.data();
        track.offset_count = offsets.size();
    }

    jitdump_track track = {};

private:
    const char *keep(const std::string &text)
    {
        return strings.insert(text).first->c_str();
    }

    // The index of a position; a new one if there is none such yet.
    uint32_t add(const DILineInfo &info, uint32_t caller)
    {
        const char *name = keep(info.FunctionName), *file = keep(info.FileName);
        const auto function = function_indices.emplace(std::tuple(name, file), functions.size());
        if (function.second)
            functions.push_back({name, file, info.StartLine, 0, 0, 0});
        const jitdump_position position = {function.first->second, info.Line, info.Column, caller};
        const auto key = std::tuple(position.function, position.line, position.column, caller);
        const auto found = position_indices.emplace(key, positions.size());
        if (found.second)
            positions.push_back(position);
        return found.first->second;
    }

    std::set<std::string> strings;
    std::map<std::tuple<const char *, const char *>, uint32_t> function_indices;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t> position_indices;
    std::vector<jitdump_function> functions;
    std::vector<jitdump_position> positions;
    std::vector<jitdump_offset> offsets;
};

// Where a function of an object is, and a copy of its relocated code.
struct Place {
    uint64_t address = 0; // 0: it was left out
    const void *bytes = nullptr;
};

// All functions of an object. It need not be relocated itself.
template <typename Find>
void load_object(jitdump *dump, const object::ObjectFile &object, Find find_place)
{
    const auto dwarf = DWARFContext::create(object);
    for (const auto &[symbol, size] : object::computeSymbolSizes(object)) {
        const auto section = cantFail(symbol.getSection()); // the linker has read it before
        if (cantFail(symbol.getType()) != object::SymbolRef::ST_Function ||
            section == object.section_end())
            continue;
        const Place place = find_place(symbol);
        if (place.address == 0)
            continue;
        Description lines(*dwarf, {cantFail(symbol.getAddress()), section->getIndex()}, size);
        const std::string text = cantFail(symbol.getName()).str();
        jitdump_code code = {};
        code.struct_size = sizeof(code);
        code.name = text.c_str();
        code.code_addr = place.address;
        code.code_size = size;
        code.code_bytes = place.bytes;
        if (lines.track.offset_count > 0) {
            code.tracks = &lines.track;
            code.track_count = 1;
        }
        if (int error = jitdump_load(dump, &code, nullptr))
            errs() << text << ": " << jitdump_strerror(error) << '\n';
    }
}

class Listener : public JITEventListener {
public:
    explicit Listener(jitdump *dump) : dump(dump) {}

    void notifyObjectLoaded(ObjectKey, const object::ObjectFile &object,
                            const RuntimeDyld::LoadedObjectInfo &loaded) override
    {
        load_object(dump, object, [&](const object::SymbolRef &symbol) {
            const auto section = *cantFail(symbol.getSection());
            const uint64_t base = loaded.getSectionLoadAddress(section);
            return Place{base == 0 ? 0 : base + cantFail(symbol.getAddress()) - section.getAddress()};
        });
    }

private:
    jitdump *dump;
};

class Plugin : public orc::ObjectLinkingLayer::Plugin {
public:
    explicit Plugin(jitdump *dump) : dump(dump) {}

    void notifyMaterializing(orc::MaterializationResponsibility &responsibility,
                             jitlink::LinkGraph &, jitlink::JITLinkContext &,
                             MemoryBufferRef buffer) override
    {
        const std::lock_guard lock(mutex);
        buffers[&responsibility] = buffer;
    }

    void modifyPassConfig(orc::MaterializationResponsibility &responsibility, jitlink::LinkGraph &,
                          jitlink::PassConfiguration &passes) override
    {
        const std::lock_guard lock(mutex);
        const MemoryBufferRef buffer = buffers[&responsibility];
        buffers.erase(&responsibility);
        passes.PostFixupPasses.push_back([this, buffer](jitlink::LinkGraph &graph) {
            return load_graph(graph, buffer);
        });
    }

    Error notifyFailed(orc::MaterializationResponsibility &) override { return Error::success(); }
#if LLVM_VERSION_MAJOR < 16
    Error notifyRemovingResources(orc::ResourceKey) override { return Error::success(); }
    void notifyTransferringResources(orc::ResourceKey, orc::ResourceKey) override {}
#else
    Error notifyRemovingResources(orc::JITDylib &, orc::ResourceKey) override
    {
        return Error::success();
    }
    void notifyTransferringResources(orc::JITDylib &, orc::ResourceKey, orc::ResourceKey) override {}
#endif

private:
    Error load_graph(jitlink::LinkGraph &graph, MemoryBufferRef buffer)
    {
        auto object = object::ObjectFile::createObjectFile(buffer);
        if (!object)
            return object.takeError();
        StringMap<Place> places;
        for (const auto *symbol : graph.defined_symbols())
            if (symbol->isCallable() && symbol->hasName())
                places[StringRef(symbol->getName())] = {symbol->getAddress().getValue(),
                                                        symbol->getSymbolContent().data()};
        load_object(dump, **object, [&](const object::SymbolRef &symbol) {
            return places.lookup(cantFail(symbol.getName()));
        });
        return Error::success();
    }

    jitdump *dump;
    std::mutex mutex;
    std::map<orc::MaterializationResponsibility *, MemoryBufferRef> buffers;
};

} // namespace

std::unique_ptr<JITEventListener> make_jitdump_listener(jitdump *dump)
{
    return std::make_unique<Listener>(dump);
}

std::unique_ptr<orc::ObjectLinkingLayer::Plugin> make_jitdump_plugin(jitdump *dump)
{
    return std::make_unique<Plugin>(dump);
}
