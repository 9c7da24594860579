import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Makes HotSpot's guesses wrong over and over, so that compiled methods are thrown away and
 * compiled anew: calls that had one target get more, branches never taken are taken, and each
 * lambda has a hidden class. */
public final class Shapes {
    interface Shape {
        double area();
    }

    record Square(double side) implements Shape {
        public double area() {
            return side * side;
        }
    }

    record Circle(double radius) implements Shape {
        public double area() {
            return Math.PI * radius * radius;
        }
    }

    record Triangle(double base, double height) implements Shape {
        public double area() {
            return base * height / 2;
        }
    }

    private static double total(List<? extends Shape> shapes, DoubleUnaryOperator scale) {
        double total = 0;
        for (Shape shape : shapes) {
            total += scale.applyAsDouble(shape.area());
        }
        return total;
    }

    private static String describe(int phase, int i) {
        Object value = phase % 2 == 0 ? (Object) i : Integer.toString(i);
        if (value instanceof String text) {
            return text + ":" + phase;
        }
        return "number " + value;
    }

    private static Shape make(int phase, int i) {
        switch ((phase + (i % 7 == 0 ? i : 0)) % 3) {
            case 0:
                return new Square(i);
            case 1:
                return new Circle(i);
            default:
                return new Triangle(i, phase);
        }
    }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
        double total = 0;
        long characters = 0;
        int phase = 0;
        for (; phase == 0 || System.nanoTime() < end; phase++) {
            final int number = phase;
            List<Shape> shapes = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                shapes.add(make(number, i));
            }
            DoubleUnaryOperator scale = number % 2 == 0 ? area -> area * number : Math::sqrt;
            for (int i = 0; i < 200; i++) {
                total += total(shapes, scale);
            }
            characters += IntStream.range(0, 2000).mapToObj(i -> describe(number, i))
                    .filter(text -> text.length() % 3 != number % 3)
                    .collect(Collectors.groupingBy(String::length, Collectors.counting()))
                    .values().stream().mapToLong(Long::longValue).sum();
        }
        System.out.println(phase + " phases, " + total + ", " + characters);
    }
}
