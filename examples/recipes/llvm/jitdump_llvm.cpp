#include "jitdump_llvm.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/ExecutionEngine/JITEventListener.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Object/SymbolSize.h>
#include <llvm/Support/DataExtractor.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace llvm;

namespace {

// How many bytes perf may need behind a function of the object: the bound of jitdump_unwind_size(), as
// addresses are not known yet. LLVM writes one FDE to a function.
size_t frame_room(MemoryBufferRef buffer)
{
    auto object = object::ObjectFile::createObjectFile(buffer);
    if (!object) {
        consumeError(object.takeError()); // the linker will say it
        return 0;
    }
    uint64_t cie = 0, fde = 0; // the largest
    for (const object::SectionRef &section : (*object)->sections()) {
        if (cantFail(section.getName()) != ".eh_frame")
            continue;
        const DataExtractor data(cantFail(section.getContents()), (*object)->isLittleEndian(), 8);
        for (uint64_t at = 0, end; data.isValidOffsetForDataOfSize(at, 8); at = end) {
            const uint64_t start = at, size = sizeof(uint32_t) + data.getU32(&at);
            uint64_t &largest = data.getU32(&at) == 0 ? cie : fde;
            largest = std::max(largest, size);
            end = start + size;
        }
    }
    return fde == 0 ? 0 : 24 + 24 + cie + 2 * fde;
}

// A function's lines and inlined calls, as LLVM's reader of DWARF knows them.
class Description {
public:
    Description(DWARFContext &dwarf, object::SectionedAddress start, uint64_t size)
    {
        const DILineInfoSpecifier specifier(DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
                                            DINameKind::LinkageName);
        for (const auto &row : dwarf.getLineInfoForAddressRange(start, size, specifier)) {
            if (row.first < start.Address || row.first - start.Address >= size)
                continue; // of another section
            const object::SectionedAddress address{row.first, start.SectionIndex};
            const auto chain = dwarf.getInliningInfoForAddress(address, specifier);
            uint32_t position = JITDUMP_NONE;
            for (uint32_t i = chain.getNumberOfFrames(); i-- > 0;)
                position = add(chain.getFrame(i), position);
            offsets.push_back({static_cast<uint32_t>(row.first - start.Address), position});
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

const void *memory_at(uint64_t address)
{
    return reinterpret_cast<const void *>(address);
}

// All functions of an object, after relocation.
void load_object(jitdump *dump, const object::ObjectFile &object, const LoadedObjectInfo &loaded)
{
    jitdump_code code = {};
    code.struct_size = sizeof(code);
    for (const object::SectionRef &section : object.sections())
        if (cantFail(section.getName()) == ".eh_frame") { // it can't fail: the linker has read it
            code.eh_frame = memory_at(loaded.getSectionLoadAddress(section));
            code.eh_frame_size = code.eh_frame ? section.getSize() : 0;
        }
    const auto dwarf =
        DWARFContext::create(object, DWARFContext::ProcessDebugRelocations::Process, &loaded);
    for (const auto &[symbol, size] : object::computeSymbolSizes(object)) {
        const auto section = cantFail(symbol.getSection());
        if (cantFail(symbol.getType()) != object::SymbolRef::ST_Function ||
            section == object.section_end() || loaded.getSectionLoadAddress(*section) == 0)
            continue;
        const std::string name = cantFail(symbol.getName()).str();
        code.name = name.c_str();
        code.code_addr = loaded.getSectionLoadAddress(*section) + cantFail(symbol.getAddress());
        code.code_size = size;
        const Description description(*dwarf, {code.code_addr, section->getIndex()}, size);
        code.tracks = &description.track;
        code.track_count = description.track.offset_count > 0;
        jitdump_load(dump, &code, nullptr); // of errors JITDUMP=debug tells
    }
}

class Listener : public JITEventListener {
public:
    explicit Listener(jitdump *dump) : dump(dump) {}

    void notifyObjectLoaded(ObjectKey, const object::ObjectFile &object,
                            const RuntimeDyld::LoadedObjectInfo &loaded) override
    {
        load_object(dump, object, loaded);
    }

private:
    jitdump *dump;
};

class MemoryManager : public SectionMemoryManager {
public:
    explicit MemoryManager(size_t room) : room(room) {}

    uint8_t *allocateCodeSection(uintptr_t size, unsigned alignment, unsigned id,
                                 StringRef name) override
    {
        return SectionMemoryManager::allocateCodeSection(size + room, alignment, id, name);
    }

private:
    size_t room;
};

// RTDyld asks for an object's memory manager while it emits the object, and says nothing of it.
thread_local size_t room_of_emitted = 0;

class RTDyldLayer : public orc::RTDyldObjectLinkingLayer {
public:
    RTDyldLayer(orc::ExecutionSession &session, jitdump *dump)
        : RTDyldObjectLinkingLayer(
              session, [](auto &&...) { return std::make_unique<MemoryManager>(room_of_emitted); }),
          dump(dump), listener(dump)
    {
        if (dump)
            registerJITEventListener(listener);
    }

    void emit(std::unique_ptr<orc::MaterializationResponsibility> responsibility,
              std::unique_ptr<MemoryBuffer> object) override
    {
        room_of_emitted = dump ? frame_room(*object) : 0;
        RTDyldObjectLinkingLayer::emit(std::move(responsibility), std::move(object));
    }

private:
    jitdump *dump;
    Listener listener;
};

class Plugin : public orc::ObjectLinkingLayer::Plugin {
public:
    explicit Plugin(jitdump *dump) : dump(dump) {}

    void notifyMaterializing(orc::MaterializationResponsibility &link, jitlink::LinkGraph &,
                             jitlink::JITLinkContext &, MemoryBufferRef object) override
    {
        const std::lock_guard lock(mutex);
        links[&link].object = object;
    }

    void modifyPassConfig(orc::MaterializationResponsibility &link, jitlink::LinkGraph &,
                          jitlink::PassConfiguration &passes) override
    {
        if (!dump)
            return;
        passes.PostPrunePasses.push_back([this, &link](jitlink::LinkGraph &graph) {
            std::unique_lock lock(mutex);
            const MemoryBufferRef object = links[&link].object;
            lock.unlock();
            return leave_room(graph, frame_room(object));
        });
        passes.PostAllocationPasses.push_back([this, &link](jitlink::LinkGraph &graph) {
            const std::lock_guard lock(mutex);
            for (auto &section : graph.sections())
                links[&link].sections.addresses[section.getName()] =
                    jitlink::SectionRange(section).getStart().getValue();
            return Error::success();
        });
    }

    Error notifyEmitted(orc::MaterializationResponsibility &responsibility) override
    {
        const Link link = take(responsibility);
        if (dump)
            load_object(dump, *cantFail(object::ObjectFile::createObjectFile(link.object)),
                        link.sections);
        return Error::success();
    }

    Error notifyFailed(orc::MaterializationResponsibility &responsibility) override
    {
        take(responsibility);
        return Error::success();
    }

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
    struct Sections : LoadedObjectInfoHelper<Sections> {
        uint64_t getSectionLoadAddress(const object::SectionRef &section) const override
        {
            return addresses.lookup(cantFail(section.getName()));
        }
        StringMap<uint64_t> addresses;
    };

    // An object from its being read to its end.
    struct Link {
        MemoryBufferRef object;
        Sections sections;
    };

    // Each function has a block of its own (FunctionSections), which is made longer.
    static Error leave_room(jitlink::LinkGraph &graph, size_t room)
    {
        std::set<jitlink::Block *> blocks;
        for (auto *symbol : graph.defined_symbols())
            if (symbol->isCallable())
                blocks.insert(&symbol->getBlock());
        for (auto *block : blocks) {
            auto content = graph.allocateBuffer(block->getSize() + room);
            std::fill(copy(block->getContent(), content.begin()), content.end(), 0);
            block->setContent(content);
        }
        return Error::success();
    }

    Link take(orc::MaterializationResponsibility &responsibility)
    {
        const std::lock_guard lock(mutex);
        Link link = std::move(links[&responsibility]);
        links.erase(&responsibility);
        return link;
    }

    jitdump *dump;
    std::mutex mutex;
    std::map<orc::MaterializationResponsibility *, Link> links;
};

} // namespace

std::unique_ptr<orc::ObjectLinkingLayer::Plugin> make_jitdump_plugin(jitdump *dump)
{
    return std::make_unique<Plugin>(dump);
}

std::unique_ptr<orc::RTDyldObjectLinkingLayer>
make_jitdump_rtdyld_layer(orc::ExecutionSession &session, jitdump *dump)
{
    return std::make_unique<RTDyldLayer>(session, dump);
}
