/*
 * The append buffer (src/buffer) as a model for spin.
 *
 * Each step here is one atomic access there, in the same order; an inline here has the name
 * of its function there, and comments in src/ name the steps. An access and what the
 * thread makes of it by itself are one d_step; an `if` whose options begin with a condition
 * on shared variables is a load and the branch on it.
 *
 * What is checked, in every interleaving:
 *   nothing overlaps       the copy finds its place in the block empty
 *   nothing is lost        the sink finds every reserved byte there, and in the end the file
 *                          has all appends
 *   order                  timestamps ascend in the file
 *   nothing is forgotten   when the appenders are done, no complete block is left behind; in
 *                          an eager buffer and with the flusher thread, nothing at all
 *   no starvation          after the offer the holder of an eager buffer makes at most
 *                          OFFERED_WRITES_MAX writes, however many the others append, and who
 *                          waits for its turn waits for one. (Where not every append looks at the
 *                          flag, the holder may write each block before the thread that has
 *                          sealed it finds it complete.)
 *   no deadlock            every thread comes to its end
 *   no livelock            no cycle of steps in which nothing gets on (spin's -DNP)
 *
 * Sizes: an append takes one unit, a block BLOCK_SIZE units. The holder offers the flag
 * after any write, or not at all: how long a turn is does not matter here.
 *
 * Why timestamps ascend is said in docs/design.md. The clock here counts reservations: two readings
 * between which nothing was reserved are equal, which counts as a wrong order,
 * since in truth either may be the later one.
 *
 * Spin's memory is sequentially consistent. The model therefore speaks for the accesses marked
 * memory_order_seq_cst. It does not show that the weaker ones (acquire, release, relaxed)
 * suffice: that rests on the pairs named in src/, on ThreadSanitizer and on running on
 * a weakly ordered processor (tests/unit/interleave). Of a missing seq_cst it can show the effect:
 * the mutants *_STORE_LATE swap a store with the load behind it, as a store buffer does.
 *
 * Mutants: each -DMUTANT_... leaves out, or swaps, one step. Spin has to refute it (check.py).
 */

#if !defined(EAGER) && !defined(LAZY) && !defined(BACKGROUND)
#error one of EAGER, LAZY, BACKGROUND
#endif

#ifndef THREADS
#define THREADS 3
#endif
#ifndef APPENDS
#define APPENDS 3
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 2
#endif
#ifndef OVERSIZE
#define OVERSIZE 1 /* which of thread 0's appends (from 0) is oversize; APPENDS: none */
#endif
#ifndef FLUSHER
#define FLUSHER 1 /* the thread that ends with an explicit flush; THREADS: none */
#endif

/* What was complete before the offer, in BLOCKS blocks at most, and of each other thread an append
 * that has been committed and has not yet looked at the flag; one of them may be oversize, and
 * have sealed a block before. */
#define OFFERED_WRITES_MAX (BLOCKS + THREADS - 1 + (OVERSIZE < APPENDS))

#define OPEN 255

/* struct append_buffer */
byte cursor_generation, cursor_offset; /* one word in src: accessed in one step */
byte flushed;
byte waiters;
byte flag; /* enum append_flag: */
#define FREE 0
#define HELD 1
#define OFFERED 2
#define ACCEPTED 3
#define STATES 4
byte committed[BLOCKS];
byte sealed[BLOCKS] = OPEN;
byte oversize[BLOCKS]; /* the timestamp of the append; 0: NULL */

/* The blocks' bytes: the timestamp of the append that has written them; 0: nothing. */
byte bytes[BLOCKS * BLOCK_SIZE];

/* Who sleeps on the futex word `flushed`. The last place is that of the thread that is no
 * appender: main, which waits for the flusher to end before it waits here. */
bit asleep[THREADS + 1];

/* The same of the futex word `flag`, the value that a thread has accepted there, and how many
 * writes have begun while it slept for that. */
bit waits_for_turn[THREADS + 1];
byte accepted[THREADS + 1];
byte writes_waited[THREADS + 1];

byte clock = 1;
byte file_last; /* the timestamp of the file's last append */
byte file_count;
byte done;

#ifdef BACKGROUND
/* struct background */
byte calls;
byte sleep; /* enum background_sleep: */
#define AWAKE 0
#define UNTIL_COMPLETE 1
#define UNTIL_APPEND 2
bit stopping;
bit stopped;
bit flusher_asleep; /* on the futex word `calls` */
#endif

#define LOCALS                                                                             \
    byte generation, offset, seen, timestamp, own, wanted, target, sum, written;           \
    bit complete, completed, turn, offered

hidden byte i; /* in d_steps only */

/* append_buffer.c */

#define block(generation_) ((generation_) % BLOCKS)

/* Signed in src, for a generation that others have long passed. */
#ifdef MUTANT_FREE_UNSIGNED
#define is_free(generation_, flushed_) ((((generation_) - (flushed_)) & 255) < BLOCKS)
#else
#define is_free(generation_, flushed_) ((generation_) < (flushed_) + BLOCKS)
#endif

/* The condition and the effect of a successful swap. It never fails without reason here, as
 * a `weak` one may: then the loop goes round once more. */
#define cursor_is_as_loaded (cursor_generation == generation && cursor_offset == offset)

inline move_cursor(to_generation, to_offset)
{
    cursor_generation = to_generation;
    cursor_offset = to_offset
}

inline load_cursor()
{
    generation = cursor_generation;
    offset = cursor_offset
}

/* `complete`: whether that made the block complete. */
inline set_sealed(generation_, size)
{
#ifdef MUTANT_SEALED_STORE_LATE
    complete = (committed[block(generation_)] == size);
    sealed[block(generation_)] = size
#else
    sealed[block(generation_)] = size;
#ifdef MUTANT_SEALER_DOES_NOT_LOOK
    complete = false
#else
    complete = (committed[block(generation_)] == size)
#endif
#endif
}

inline add_committed(generation_, size)
{
#ifdef MUTANT_COMMITTED_STORE_LATE
    sum = sealed[block(generation_)];
    d_step {
        committed[block(generation_)] = committed[block(generation_)] + size;
        complete = complete || committed[block(generation_)] == sum;
        sum = 0
    }
#else
    d_step {
        committed[block(generation_)] = committed[block(generation_)] + size;
        sum = committed[block(generation_)]
    };
    d_step {
#ifndef MUTANT_COMMITTER_DOES_NOT_LOOK
        complete = complete || sealed[block(generation_)] == sum;
#endif
        sum = 0
    }
#endif
}

inline wait_for_free_block()
{
#ifdef MUTANT_FULL_BUFFER_TAKES_NO_TURN
    flush_if(false);
#else
    flush();
#endif
    wait();
    d_step { seen = 0; generation = 0; offset = 0 }
}

/* After a swap that failed. */
inline forget_cursor()
{
    d_step { generation = 0; offset = 0; timestamp = 0 };
#ifdef MUTANT_CLOCK_BEFORE_LOAD
    timestamp = clock
#endif
}

/* Between the load and the swap. */
inline read_clock()
{
#ifndef MUTANT_CLOCK_BEFORE_LOAD
    timestamp = clock
#else
    skip
#endif
}

/* Out: generation, offset, timestamp, complete (completed_previous in src). */
inline reserve()
{
#ifdef MUTANT_CLOCK_BEFORE_LOAD
    timestamp = clock;
#endif
    do
    :: d_step { cursor_offset < BLOCK_SIZE -> load_cursor() } ->
           read_clock();
           if
           :: d_step {
                  cursor_is_as_loaded -> move_cursor(generation, offset + 1);
                  clock++
              } -> break
           :: else -> forget_cursor()
           fi
    :: d_step { cursor_offset == BLOCK_SIZE -> load_cursor() } ->
           if
#ifndef MUTANT_RESERVE_DOES_NOT_LOOK
           :: d_step { !is_free(generation + 1, flushed) -> seen = flushed } ->
                  wait_for_free_block()
#endif
           :: else ->
                  read_clock();
                  if
                  :: d_step {
                         cursor_is_as_loaded -> move_cursor(generation + 1, 1);
                         clock++
                     } ->
                         set_sealed(generation, offset);
                         d_step {
#ifdef MUTANT_PREVIOUS_FORGOTTEN
                             complete = false;
#endif
                             generation++;
                             offset = 0
                         };
                         break
                  :: else -> forget_cursor()
                  fi
           fi
    od
}

/* The caller's copy. */
inline fill()
{
    d_step {
        assert(bytes[block(generation) * BLOCK_SIZE + offset] == 0);
        bytes[block(generation) * BLOCK_SIZE + offset] = timestamp;
        offset = 0;
        timestamp = 0
    }
}

/* Out: completed. */
inline commit()
{
    add_committed(generation, 1);
    d_step { completed = complete; complete = false; generation = 0 }
}

inline seal()
{
    wanted = cursor_generation;
    do
    :: d_step { cursor_generation != wanted || cursor_offset == 0 -> skip } -> break
    :: d_step { else -> load_cursor() } ->
           if
#ifndef MUTANT_SEAL_DOES_NOT_LOOK
           :: !is_free(generation + 1, flushed) -> break
#endif
           :: else ->
                  if
                  :: d_step { cursor_is_as_loaded -> move_cursor(generation + 1, 0) } ->
                         set_sealed(generation, offset);
                         break
                  :: else
                  fi
           fi
    od;
    skip; /* spin: a break must not lead into a d_step */
    d_step { wanted = 0; generation = 0; offset = 0; complete = false }
}

/* Out: own, timestamp. */
inline reserve_oversize()
{
    do
    :: d_step { load_cursor() } ->
           if
           :: d_step { !is_free(generation + 1, flushed) -> seen = flushed } ->
                  wait_for_free_block()
           :: else ->
                  if
                  :: offset != 0 -> seal()
                  :: else ->
                         timestamp = clock;
                         if
                         :: d_step {
                                cursor_is_as_loaded -> move_cursor(generation + 1, 0);
                                clock++
                            } -> break
                         :: else -> d_step { generation = 0; timestamp = 0 }
                         fi
                  fi
           fi
    od;
    skip;
    d_step { own = generation; generation = 0 }
}

inline commit_oversize()
{
    d_step {
        assert(oversize[block(own)] == 0);
        oversize[block(own)] = timestamp;
        timestamp = 0
    };
    set_sealed(own, 1);
    add_committed(own, 1);
    complete = false;
    do
    :: true ->
           seen = flushed;
           flush();
           if
           :: seen > own -> break
           :: else
           fi;
           wait();
           seen = 0
    od;
    skip;
    d_step { own = 0; seen = 0 }
}

/* append_buffer.c: flushing */

/* For the holder, who alone changes `flushed`: loading it is no step. `complete`. */
inline holder_has_complete()
{
    if
    :: d_step { sealed[block(flushed)] != OPEN -> sum = sealed[block(flushed)] } ->
           d_step { complete = (committed[block(flushed)] == sum); sum = 0 }
    :: else
    fi
}

/* For all others. Uses `generation`. */
inline has_complete()
{
    generation = flushed;
    if
    :: d_step { sealed[block(generation)] != OPEN -> sum = sealed[block(generation)] } ->
           d_step { complete = (committed[block(generation)] == sum); sum = 0; generation = 0 }
    :: else -> generation = 0
    fi
}

/* What the holder looks for after it has dropped the flag. `complete`. */
inline has_work()
{
    has_complete();
#if defined(EAGER) && !defined(MUTANT_HOLDER_FORGETS_CURRENT)
    if
    :: complete
    :: else ->
           if
           :: d_step { cursor_offset != 0 -> load_cursor() } ->
                  d_step { complete = (generation == flushed); generation = 0; offset = 0 }
           :: else
           fi
    fi
#endif
}

inline sink(from)
{
    d_step {
        i = 0;
        do
        :: i < THREADS + 1 ->
               if
               :: waits_for_turn[i] && flag == accepted[i] ->
                      writes_waited[i]++;
                      assert(writes_waited[i] <= 1)
               :: else
               fi;
               i++
        :: else -> break
        od;
        i = 0;
        if
        :: oversize[block(from)] != 0 ->
               assert(oversize[block(from)] > file_last);
               file_last = oversize[block(from)];
               file_count++;
               oversize[block(from)] = 0
        :: else ->
               i = block(from) * BLOCK_SIZE;
               do
               :: i < block(from) * BLOCK_SIZE + sealed[block(from)] ->
                      assert(bytes[i] > file_last);
                      file_last = bytes[i];
                      file_count++;
                      bytes[i] = 0;
                      i++
               :: else -> break
               od;
               i = 0
        fi
    }
}

inline recycle(from)
{
    committed[block(from)] = 0;
    sealed[block(from)] = OPEN
}

/* futex_wake(&buffer->flushed) */
inline wake()
{
    d_step {
        i = 0;
        do
        :: i < THREADS + 1 -> asleep[i] = 0; i++
        :: else -> break
        od;
        i = 0
    }
}

inline flush_oldest()
{
#if defined(MUTANT_FREED_BEFORE_WRITTEN)
    flushed++;
    sink(flushed - 1);
    recycle(flushed - 1);
#elif defined(MUTANT_FREED_BEFORE_RESET)
    sink(flushed);
    flushed++;
    recycle(flushed - 1);
#else
    sink(flushed);
    recycle(flushed);
#ifndef MUTANT_FLUSHED_STORE_LATE
    flushed++;
#endif
#endif
#ifdef MUTANT_FLUSHED_STORE_LATE
    complete = (waiters != 0);
    flushed++;
    if
    :: complete -> wake()
    :: else
    fi;
#else
    if
    :: waiters != 0 -> wake()
    :: else
    fi;
#endif
    complete = false
}

/* futex_wake(&buffer->flag) */
inline wake_successor()
{
    d_step {
        i = 0;
        do
        :: i < THREADS + 1 -> waits_for_turn[i] = 0; i++
        :: else -> break
        od;
        i = 0
    }
}

inline wait_for_turn()
{
    do
    :: flag != accepted[me] -> break
    :: else ->
#ifdef MUTANT_TURN_WITHOUT_COMPARISON
           waits_for_turn[me] = 1;
#else
           waits_for_turn[me] = (flag == accepted[me]);
#endif
           !waits_for_turn[me]
    od;
    skip;
    d_step { accepted[me] = 0; writes_waited[me] = 0 }
}

/* `complete`: whether there was a successor. */
inline drop_flag()
{
    if
#ifdef MUTANT_DROP_OVER_SUCCESSOR
    :: flag = flag - flag % STATES
#else
    :: d_step { flag % STATES != ACCEPTED -> flag = flag - flag % STATES }
    :: else ->
#ifdef MUTANT_HANDOVER_NOT_COUNTED
           flag = flag - ACCEPTED;
#else
           flag++;
#endif
           wake_successor();
           complete = true
#endif
    fi
}

/* `complete`: whether there is a successor. */
inline end_write()
{
    if
    :: offered ->
#ifdef EAGER
           d_step { written++; assert(written <= OFFERED_WRITES_MAX) };
#endif
#ifdef MUTANT_LEAVES_WITHOUT_SUCCESSOR
           complete = true
#else
           complete = (flag % STATES == ACCEPTED)
#endif
    :: !offered ->
           d_step {
#ifndef MUTANT_NO_OFFER
               flag++;
#endif
               offered = true
           }
    :: !offered
    fi
}

/* Until there is no work, or there is a successor. */
inline flush_as_holder()
{
    do
    :: true ->
           holder_has_complete();
           if
           :: complete ->
                  flush_oldest();
                  end_write();
                  if
                  :: complete -> complete = false; break
                  :: else
                  fi
           :: else ->
#ifdef EAGER
                  /* seal_if_current() */
                  if
                  :: cursor_generation == flushed && cursor_offset != 0 -> seal()
                  :: else -> break
                  fi
#else
                  break
#endif
           fi
    od
}

/* flush(in_turn). The options of the loop are take_flag(). A load there and the swap that succeeds
 * after it are one step: between them nothing has changed. */
inline flush_if(in_turn)
{
    turn = in_turn;
    do
#ifdef MUTANT_NO_FLAG
    :: true ->
#else
    :: d_step { flag % STATES == FREE -> flag++ } ->
#endif
           flush_as_holder();
#ifdef MUTANT_DROP_STORE_LATE
           has_work();
           d_step { accepted[me] = complete; complete = false };
           drop_flag();
           if
           :: complete || offered || !accepted[me] -> break
           :: else -> d_step { accepted[me] = 0; turn = false }
           fi
#else
           drop_flag();
           if
#if defined(MUTANT_NO_OFFER) || defined(MUTANT_OFFER_IGNORED)
           :: complete -> break
#else
           :: complete || offered -> break
#endif
           :: else ->
#ifdef MUTANT_NO_LOOK_AFTER_DROP
                  break
#else
                  has_work();
                  if
                  :: !complete -> break
                  :: else -> d_step { complete = false; turn = false }
                  fi
#endif
           fi
#endif
#ifndef MUTANT_NO_FLAG
#ifndef MUTANT_OFFER_IGNORED
    :: d_step { flag % STATES == OFFERED && turn -> flag++; accepted[me] = flag; turn = false } ->
           wait_for_turn();
#ifdef MUTANT_SUCCESSOR_LEAVES
           break
#endif
#endif
    :: else -> break
#endif
    od;
    skip;
    d_step { written = 0; offered = false; turn = false; complete = false; accepted[me] = 0 }
}

/* jd_append_buffer_flush() */
inline flush()
{
    flush_if(true)
}

/* jd_append_buffer_wait(buffer, seen) */
inline wait()
{
#ifndef MUTANT_WAITER_DOES_NOT_COUNT
    waiters++;
#endif
    if
    :: flushed == seen ->
           /* futex_wait(): the kernel compares and lies down in one step. */
#ifdef MUTANT_WAIT_WITHOUT_COMPARISON
           asleep[me] = 1;
#else
           asleep[me] = (flushed == seen);
#endif
           !asleep[me]
    :: else
    fi;
#ifndef MUTANT_WAITER_DOES_NOT_COUNT
    waiters--
#endif
}

inline flush_all()
{
    d_step { target = cursor_generation + (cursor_offset != 0) };
    do
    :: flushed >= target -> break
    :: d_step { else -> seen = flushed } ->
           if
           :: cursor_generation + 1 == target -> seal()
           :: else
           fi;
           flush();
           wait();
           seen = 0
    od;
    target = 0
}

/* background.c */

#ifdef BACKGROUND
inline call()
{
    calls++;
    flusher_asleep = 0 /* futex_wake(&background->calls) */
}

inline jd_background_call()
{
    if
    :: completed -> calls++ /* ends a watch, which changes nothing and is not modelled */
    :: else
    fi;
    if
    :: sleep >= (completed -> UNTIL_COMPLETE : UNTIL_APPEND) ->
           if
           :: d_step { sleep != AWAKE -> sleep = AWAKE } -> call()
           :: else
           fi
    :: else
    fi;
    if
    :: completed && stopping -> flush()
    :: else
    fi
}

/* futex_wait(&background->calls) */
inline sleep_until_called(calls_)
{
#ifdef MUTANT_SLEEP_WITHOUT_COMPARISON
    flusher_asleep = 1
#else
    flusher_asleep = (calls == calls_)
#endif
}

/* The flusher looks at `stopping` and at the buffer; sets `complete` if there is cause to go on. */
inline has_cause(until)
{
    if
    :: stopping -> complete = true
    :: else ->
           if
           :: until == UNTIL_COMPLETE -> has_complete()
           :: else ->
                  /* jd_append_buffer_is_empty() */
                  complete = true;
                  if
                  :: d_step { cursor_offset == 0 -> load_cursor() } ->
                         d_step { complete = (generation != flushed); generation = 0 }
                  :: else
                  fi
           fi
    fi
}

inline sleep_until(until)
{
    seen_calls = calls;
#ifndef MUTANT_SLEEP_STORE_LATE
    sleep = until;
#endif
    has_cause(until);
#ifdef MUTANT_SLEEP_STORE_LATE
    sleep = until;
#endif
    if
    :: !complete ->
           sleep_until_called(seen_calls);
           if
           :: !flusher_asleep
           :: until == UNTIL_COMPLETE -> flusher_asleep = 0 /* the interval may end at any time */
           fi
    :: else
    fi;
    d_step { complete = false; seen_calls = 0; sleep = AWAKE }
}

proctype flusher()
{
    LOCALS;
    byte seen_calls;
    byte me = THREADS;
    do
    :: stopping -> break
    :: else ->
           sleep_until(UNTIL_APPEND);
           sleep_until(UNTIL_COMPLETE);
#ifdef MUTANT_FLUSHER_WAITS_FOR_APPENDS
           flush_all()
#else
           seal();
           flush_if(false) /* jd_append_buffer_try_flush() */
#endif
    od;
    stopped = true
}
#endif

/* The threads */

inline after_append()
{
#ifdef EAGER
    completed = false;
    flush()
#endif
#ifdef LAZY
    if
    :: completed -> completed = false; flush()
    :: else
    fi
#endif
#ifdef BACKGROUND
    jd_background_call();
    completed = false
#endif
}

proctype appender(byte me)
{
    LOCALS;
    byte count;
    do
    :: count == APPENDS -> break
    :: count < APPENDS ->
           if
           :: me == 0 && count == OVERSIZE ->
                  reserve_oversize();
                  commit_oversize()
           :: else ->
                  reserve();
                  fill();
                  commit();
                  after_append()
           fi;
           count++
    od;
    if
    :: me == FLUSHER -> flush_all()
    :: else
    fi;
    done++
}

init
{
    LOCALS;
    byte me = THREADS;
    atomic {
        do
        :: own < THREADS -> run appender(own); own++
        :: else -> break
        od;
        own = 0;
#ifdef BACKGROUND
        run flusher()
#endif
    };
    done == THREADS;
#ifdef BACKGROUND
    /* Sooner or later all is in the file, with no call after the last append's. */
    file_count == THREADS * APPENDS;
    stopping = true;
    call();
    stopped;
#endif
#ifdef LAZY
    assert(sealed[block(flushed)] == OPEN ||
           committed[block(flushed)] != sealed[block(flushed)]);
    flush_all();
#endif
    assert(file_count == THREADS * APPENDS);
    assert(flag % STATES == FREE && waiters == 0)
}
