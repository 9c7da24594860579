package jitdump;

/** An error of the library, with its text. */
public final class JitdumpException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** One of Constants.ERROR_*. */
    public final int code;

    JitdumpException(int code, String message) {
        super(message);
        this.code = code;
    }
}
