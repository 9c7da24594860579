// Makes generated machine code visible in perf and samply, by libjitdump.
//
// The manual is the library's header, jitdump.h: functions and fields are its own, in camel
// case. Sizes and counts are filled in here, and what is left out is zero. Integers may be Number
// or BigInt; bytes are a Uint8Array, of which Buffer is one.
import { ERROR_UNWIND_CAPACITY } from './constants.js';
import { converters } from './convert.js';
import { functions } from './native.js';

export * as constants from './constants.js';

export class JitdumpError extends Error {
  // The code is one of constants.ERROR_*.
  constructor(code, message = functions.jitdump_strerror(code)) {
    super(message);
    this.name = 'JitdumpError';
    this.code = code;
  }
}

// Calls the function; arguments that are for output are left alone.
function invoke(name, ...values) {
  return functions[name](...values.map((value, i) => converters[name][i](value, name)));
}

function call(name, ...values) {
  const result = invoke(name, ...values);
  if (result !== 0)
    throw new JitdumpError(result);
}

export class Dump {
  #handle;

  // With null, what is open() in a program that is not being profiled: all calls do nothing.
  constructor(handle) {
    this.#handle = handle;
  }

  static open(options = {}) {
    return Dump.#openBy('jitdump_open', options);
  }

  // If $JITDUMP asks for a dump, whose words change the options; else all calls do nothing.
  static openFromEnvironment(defaults = {}) {
    return Dump.#openBy('jitdump_open_from_environment', defaults);
  }

  static #openBy(name, options) {
    const message = Buffer.alloc(1024);
    const dump = [null];
    const result = invoke(name, dump, { ...options, errorMessage: message });
    const text = message.toString('utf8', 0, message.indexOf(0));
    if (result !== 0)
      throw new JitdumpError(result, text);
    if (text !== '')
      process.emitWarning(text);
    return new Dump(dump[0]);
  }

  // Without it, line tables need not be collected.
  get isOpen() {
    return this.#handle !== null;
  }

  // Calls that follow do nothing.
  close() {
    const handle = this.#handle;
    this.#handle = null;
    call('jitdump_close', handle);
  }

  // null, where there is none.
  get path() {
    return functions.jitdump_path(this.#handle);
  }

  // Returns the code index, for move().
  load(code) {
    const index = [0];
    if (this.isOpen)
      call('jitdump_load', this.#handle, code, index);
    return BigInt(index[0]);
  }

  // The indices of many; that of a function that has an error is 0, and if all have, it is thrown.
  loadMany(codes) {
    if (!this.isOpen || codes.length === 0)
      return codes.map(() => 0n);
    const indices = new BigUint64Array(codes.length);
    try {
      call('jitdump_load_many', this.#handle, codes, codes.length, indices);
    } catch (error) {
      if (indices.every((index) => index === 0n))
        throw error;
    }
    return [...indices];
  }

  unwindSize(code) {
    const size = [0];
    if (this.isOpen)
      call('jitdump_unwind_size', this.#handle, code, size);
    return size[0];
  }

  move(codeIndex, oldCodeAddr, newCodeAddr, codeSize) {
    call('jitdump_move', this.#handle, codeIndex, oldCodeAddr, newCodeAddr, codeSize);
  }

  // Returns the tier's number, for code.tier.
  addTier(name, color, namePrefix = null) {
    const tier = [0];
    call('jitdump_add_tier', this.#handle, name, color, namePrefix, tier);
    return tier[0];
  }

  // The source is a string, or bytes.
  embedSource(path, source) {
    const bytes = Buffer.from(source);
    call('jitdump_embed_source', this.#handle, path, bytes, bytes.length);
  }

  appendRaw(id, payload) {
    call('jitdump_append_raw', this.#handle, id, payload, payload?.length);
  }

  flush() {
    call('jitdump_flush', this.#handle);
  }

  // Writes what can be written without waiting. The handlers of process.on() are no signal
  // handlers in the sense of C: in these, flush() does as well.
  flushFromSignal() {
    call('jitdump_flush_from_signal', this.#handle);
  }
}

// The bytes of an .eh_frame section, for other uses than profiling.
export function unwindEhFrame(elfMach, code) {
  const size = [0];
  const result = invoke('jitdump_unwind_eh_frame', elfMach, code, null, 0, size);
  if (result !== ERROR_UNWIND_CAPACITY)
    throw new JitdumpError(result);
  const bytes = Buffer.alloc(size[0]);
  call('jitdump_unwind_eh_frame', elfMach, code, bytes, bytes.length, size);
  return bytes;
}

// Of the library that is loaded: major * 10000 + minor * 100 + patch.
export function version() {
  return functions.jitdump_version();
}
