// From JavaScript's values to what koffi takes for them. koffi would cut off or misread what does
// not fit into C, and take a number for a pointer; here it is a TypeError or RangeError.
import koffi from 'koffi';

import { functions } from './native.js';

// A function of a value, and of the name to call it by in an error.
function converter(type) {
  if (/Int/.test(type.primitive))
    return integer(type);
  if (type.primitive === 'String')
    return string;
  if (type.name === 'jitdump_string')
    return (value, where) => ({ bytes: string(value, where), size: Buffer.byteLength(value) });
  if (type.primitive === 'Record')
    return record(type);
  if (type.ref.primitive === 'Record')
    return pointer(converter(type.ref));
  return type.ref.name === 'jitdump' ? (handle) => handle : bytes;
}

function integer({ name, primitive, size }) {
  const isSigned = primitive.startsWith('Int');
  const end = 2 ** (isSigned ? 8 * size - 1 : 8 * size);
  const begin = isSigned ? -end : 0;
  return (value = 0, where) => {
    if (!Number.isInteger(value) && typeof value !== 'bigint')
      throw new TypeError(`${where}: ${value} is no integer`);
    if (value < begin || value >= end)
      throw new RangeError(`${where}: ${value} is no ${name}`);
    return value;
  };
}

function string(value = null, where) {
  if (value !== null && typeof value !== 'string')
    throw new TypeError(`${where}: ${value} is no string`);
  if (value?.includes('\0'))
    throw new TypeError(`${where}: there is a NUL in the string ${value}`);
  return value;
}

function bytes(value = null, where) {
  if (value !== null && !(value instanceof Uint8Array))
    throw new TypeError(`${where}: ${value} is no Uint8Array`);
  return value;
}

function pointer(element) {
  return (value = null, where) => {
    if (!Array.isArray(value))
      return value === null ? null : element(value, where);
    return value.length === 0 ? null : value.map((one) => element(one, where));
  };
}

function camelCase(name) {
  return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

function record(type) {
  const known = new Set();
  const fields = Object.values(type.members).map(({ name, type: fieldType }) => ({
    name, take: taker(type, name, known), convert: converter(fieldType),
  }));
  return (object, where) => {
    if (typeof object !== 'object')
      throw new TypeError(`${where}: ${object} is no object`);
    for (const key of Object.keys(object)) {
      if (!known.has(key))
        throw new TypeError(`${type.name} has no field ${key}`);
    }
    const result = {};
    for (const { name, take, convert } of fields)
      result[name] = convert(take(object), name);
    return result;
  };
}

// Where to take a field from. The sizes and counts of what it has are not the object's to say.
function taker(type, name, known) {
  if (name === 'struct_size')
    return () => koffi.sizeof(type);
  if (name.endsWith('_count')) {
    const key = camelCase(name.replace(/_count$/, 's'));
    return (object) => length(object[key], key);
  }
  const whole = name.endsWith('_size') ? name.replace(/_size$/, '') : '';
  if (type.members[whole]?.type.primitive === 'String')
    return () => 0; // koffi's strings end with a NUL
  if (whole in type.members) {
    const key = camelCase(whole);
    return (object) => object[key]?.length;
  }
  const key = camelCase(name);
  known.add(key);
  return name === 'code_size' ? codeSize : (object) => object[key];
}

function length(array, key) {
  if (array != null && !Array.isArray(array))
    throw new TypeError(`${key} is no array`);
  return array?.length;
}

// Where the bytes are given, the size need not be.
function codeSize({ codeSize: given, codeBytes }) {
  if (given && codeBytes && BigInt(given) !== BigInt(codeBytes.length))
    throw new RangeError(`${codeBytes.length} codeBytes, but codeSize is ${given}`);
  return codeBytes?.length ?? given;
}

// For each function those of its parameters; what is for output needs none.
export const converters = Object.fromEntries(Object.entries(functions).map(([name, { info }]) =>
  [name, info.arguments.map(({ type, direction }) =>
    (direction === 'Input' ? converter(type) : (value) => value))]));
