import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;

/** A host with short-lived plugins: it loads a class, lets it run until its methods are compiled,
 * goes on with its own work and drops the class, again and again. So methods are unloaded, and
 * others take their addresses. */
public final class Plugins {
    /** What each loader has one of, with code of its own. */
    public static final class Plugin implements LongUnaryOperator {
        private long state;

        @Override
        public long applyAsLong(long rounds) {
            for (long i = 0; i < rounds; i++) {
                state = mix(state) + fold(i) + length(i);
            }
            return state;
        }

        private static long mix(long value) {
            value ^= value >>> 33;
            value *= 0xff51afd7ed558ccdL;
            return value ^ value >>> 29;
        }

        private static long fold(long value) {
            long sum = 0;
            while (value != 0) {
                sum += value % 10;
                value /= 10;
            }
            return sum;
        }

        private int length(long value) {
            return value % 1000 == 0 ? Long.toString(state + value).length() : 1;
        }
    }

    private static final class Loader extends ClassLoader {
        private final byte[] bytes;

        Loader(byte[] bytes) {
            super(Plugins.class.getClassLoader());
            this.bytes = bytes;
        }

        LongUnaryOperator plugin() throws ReflectiveOperationException {
            Class<?> plugin = defineClass(Plugin.class.getName(), bytes, 0, bytes.length);
            return (LongUnaryOperator) plugin.getDeclaredConstructor().newInstance();
        }
    }

    private static long work(int size) {
        Map<String, Long> counts = new HashMap<>();
        for (int i = 0; i < size; i++) {
            counts.merge(Integer.toHexString(i * 37 % 1009), (long) i, Long::sum);
        }
        List<String> names = new ArrayList<>(counts.keySet());
        names.sort(Comparator.comparing(counts::get));
        return names.get(names.size() / 2).hashCode();
    }

    public static void main(String[] arguments)
            throws IOException, ReflectiveOperationException {
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
        byte[] bytes;
        try (InputStream file = Plugins.class.getResourceAsStream("Plugins$Plugin.class")) {
            bytes = file.readAllBytes();
        }
        int count = 0;
        long result = 0;
        while (count == 0 || System.nanoTime() < end) {
            LongUnaryOperator plugin = new Loader(bytes).plugin();
            for (int i = 0; i < 500; i++) {
                result += plugin.applyAsLong(20);
            }
            for (int i = 0; i < 10; i++) {
                result += work(5_000);
            }
            if (++count % 10 == 0) {
                plugin = null;
                System.gc();
            }
        }
        System.out.println(count + " plugins, " + result);
    }
}
