import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles generated sources with javac, in memory, for as long as it is told: a real program of
 * thousands of methods. */
public final class Sources {
    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static final class Binary extends SimpleJavaFileObject {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Binary(String name) {
            super(URI.create("bytes:///" + name + ".class"), Kind.CLASS);
        }

        @Override
        public OutputStream openOutputStream() {
            return bytes;
        }
    }

    private static final class Memory extends ForwardingJavaFileManager<JavaFileManager> {
        private final List<Binary> binaries = new ArrayList<>();

        Memory(JavaFileManager files) {
            super(files);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location location, String name,
                JavaFileObject.Kind kind, FileObject sibling) {
            Binary binary = new Binary(name);
            binaries.add(binary);
            return binary;
        }
    }

    static String sourceOf(String name, int methods) {
        StringBuilder text = new StringBuilder("import java.util.*;\npublic class " + name
                + "<T extends Comparable<T>> {\n  enum Kind { ONE, TWO, THREE }\n");
        for (int i = 0; i < methods; i++) {
            text.append("  public <U> Map<String, List<U>> method" + i + "(List<U> list, T key) {\n"
                    + "    Map<String, List<U>> map = new TreeMap<>(Comparator.reverseOrder());\n"
                    + "    for (int i = 0; i < list.size(); i++) {\n"
                    + "      String text = \"item \" + i + key.compareTo(key) + " + i + "L;\n"
                    + "      map.computeIfAbsent(text, k -> new ArrayList<>()).add(list.get(i));\n"
                    + "      switch (Kind.values()[i % 3]) {\n"
                    + "        case ONE: map.clear(); break;\n"
                    + "        case TWO: map.values().removeIf(List::isEmpty); break;\n"
                    + "        default: throw new IllegalStateException(text);\n"
                    + "      }\n    }\n    return map;\n  }\n");
        }
        return text.append("}\n").toString();
    }

    public static void main(String[] arguments) throws Exception {
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        int rounds = 0;
        long size = 0;
        while (rounds == 0 || System.nanoTime() < end) {
            List<Source> sources = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                sources.add(new Source("Generated" + i, sourceOf("Generated" + i, 5 + i)));
            }
            try (Memory memory = new Memory(compiler.getStandardFileManager(null, null, null))) {
                List<String> options = List.of("-proc:none", "-g");
                if (!compiler.getTask(null, memory, null, options, null, sources).call()) {
                    throw new AssertionError("the generated sources are wrong");
                }
                for (Binary binary : memory.binaries) {
                    size += binary.bytes.size();
                }
            }
            rounds++;
        }
        System.out.println(rounds + " rounds, " + size + " bytes");
    }
}
