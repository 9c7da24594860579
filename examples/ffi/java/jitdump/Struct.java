package jitdump;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.util.stream.Collectors.toMap;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.util.List;
import java.util.Map;

/** A struct of the header, and how its fields are written. */
record Struct(StructLayout layout, Map<String, Field> fields) {
    private record Field(long offset, long size) {}

    static Struct of(String name, MemoryLayout... members) {
        var layout = MemoryLayout.structLayout(members).withName(name);
        return new Struct(layout, List.of(members).stream().collect(toMap(
                member -> member.name().get(),
                member -> new Field(layout.byteOffset(groupElement(member.name().get())),
                        member.byteSize()))));
    }

    long size() {
        return layout.byteSize();
    }

    /** Of the struct at an address. An int's sign is not looked at. */
    Struct set(long address, String name, long value) {
        var field = fields.get(name);
        if (field.size == 4)
            Memory.putInt(address + field.offset, (int) value);
        else
            Memory.putLong(address + field.offset, value);
        return this;
    }

    /** The address of so many; NULL for none. */
    long array(Memory memory, List<?> elements) {
        return elements.isEmpty() ? 0 : memory.allocate(elements.size() * size());
    }
}
