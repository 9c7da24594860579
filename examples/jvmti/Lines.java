/** Small methods that are inlined into each other. Each line that computes has a constant of its
 * own, so that the machine code shows which line it comes from. */
public final class Lines {
    private static int scale(int value) {
        value = value * 31 ^ 0x11223301;
        return value + (value >>> 7);
    }

    private static int blend(int value, int other) {
        int sum = (value ^ 0x11223302) * 37;
        for (int i = 0; i < (other & 7); i++) {
            sum += scale(sum + i) & 0x11223303;
        }
        return sum * 41 ^ 0x11223304;
    }

    private static int twice(int value) {
        return scale(value) * 43 + scale(value ^ 0x11223305);
    }

    static int compute(int value, int[] table) {
        int sum = value * 47 ^ 0x11223306;
        sum = blend(sum, value) * 53;
        sum += table[value & 15] / (value | 0x11223307);
        sum ^= twice(sum) * 59;
        if (sum < 0x11223308) {
            sum = blend(value, sum) - 0x11223309;
        }
        return (sum ^ 0x1122330a) * 61;
    }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
        int[] table = new int[16];
        int result = 0;
        for (int round = 0; round == 0 || System.nanoTime() < end; round++) {
            for (int i = 0; i < 100_000; i++) {
                result += compute(result + i, table);
            }
            table[round & 15] = result;
        }
        System.out.println(result);
    }
}
