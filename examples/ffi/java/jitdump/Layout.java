package jitdump;

import static java.util.stream.Collectors.joining;

import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Prints, for tests/bindings/ffi, what Java has made of the declarations. */
public final class Layout {
    private Layout() {}

    public static void main(String[] arguments) {
        System.out.printf("{\"structs\": {%s}, \"constants\": {%s}, \"functions\": {%s}}%n",
                values(Native.class, Struct.class).map(Layout::struct).collect(joining(", ")),
                Arrays.stream(Constants.class.getFields()).map(Layout::constant)
                        .collect(joining(", ")),
                Arrays.stream(Native.class.getDeclaredFields())
                        .filter(field -> field.getType() == MethodHandle.class)
                        .map(Layout::function).collect(joining(", ")));
    }

    private static <T> Stream<T> values(Class<?> in, Class<T> type) {
        return Arrays.stream(in.getDeclaredFields()).filter(field -> field.getType() == type)
                .map(field -> type.cast(value(field)));
    }

    private static Object value(Field field) {
        try {
            return field.get(null);
        } catch (IllegalAccessException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static String struct(Struct struct) {
        var layout = struct.layout();
        return "\"%s\": {\"size\": %d, \"fields\": {%s}}".formatted(
                layout.name().get(), layout.byteSize(),
                layout.memberLayouts().stream().map(field -> "\"%s\": [%d, %d]".formatted(
                        field.name().get(),
                        layout.byteOffset(PathElement.groupElement(field.name().get())),
                        field.byteSize())).collect(joining(", ")));
    }

    /** NONE is unsigned, errors are not. */
    private static String constant(Field field) {
        int value = (int) value(field);
        boolean isSigned = field.getName().startsWith("ERROR_");
        return "\"JITDUMP_%s\": %d".formatted(field.getName(),
                isSigned ? value : Integer.toUnsignedLong(value));
    }

    private static String function(Field field) {
        var type = ((MethodHandle) value(field)).type();
        var sizes = Stream.concat(Stream.of(type.returnType()), type.parameterList().stream())
                .map(Layout::size).toList();
        return "\"jitdump_%s\": %s".formatted(field.getName().toLowerCase(), sizes);
    }

    private static int size(Class<?> type) {
        return type == void.class ? 0 : type == int.class ? 4
                : List.of(long.class, MemorySegment.class).contains(type) ? 8 : -1;
    }
}
