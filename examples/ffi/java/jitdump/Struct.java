package jitdump;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.util.stream.Collectors.toMap;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** A struct of the header, and how its fields are written. */
record Struct(StructLayout layout, Map<String, VarHandle> fields) {
    static Struct of(String name, MemoryLayout... members) {
        var layout = MemoryLayout.structLayout(members).withName(name);
        return new Struct(layout, List.of(members).stream().map(member -> member.name().get())
                .collect(toMap(field -> field, field -> layout.varHandle(groupElement(field)))));
    }

    /** One of them in C memory, for the fields to be set. */
    record Instance(Struct struct, MemorySegment memory) {
        Instance set(String field, Object value) {
            struct.fields.get(field).set(memory, 0L, value);
            return this;
        }
    }

    Instance allocate(Arena arena) {
        return new Instance(this, arena.allocate(layout));
    }

    /** An array of them, one for each element of the list; NULL if there is none. */
    <T> MemorySegment array(Arena arena, List<T> elements, BiConsumer<Instance, T> fill) {
        if (elements.isEmpty())
            return MemorySegment.NULL;
        var array = arena.allocate(layout, elements.size());
        for (int i = 0; i < elements.size(); i++) {
            var memory = array.asSlice(i * layout.byteSize(), layout.byteSize());
            fill.accept(new Instance(this, memory), elements.get(i));
        }
        return array;
    }
}
