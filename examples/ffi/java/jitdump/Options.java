package jitdump;

/** How to open a dump; as it is made, it is a good choice. */
public final class Options {
    public int flags;
    public int clock;
    public int flushMode;
    public int elfMach;
    public int dialect;
    public long flushBytes;
    public long flushIntervalNs;
    public long sizeLimit;
    public String directory;
    public String track;
    public long descriptor;
}
