// Prints, for tests/bindings/ffi, what koffi has made of the declarations.
import koffi from 'koffi';

import * as constants from './constants.js';
import { functions, structs } from './native.js';

function map(object, convert) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, convert(value)]));
}

const layout = {
  structs: map(structs, (type) => ({
    size: koffi.sizeof(type),
    fields: map(type.members, (field) => [field.offset, koffi.sizeof(field.type)]),
  })),
  constants: Object.fromEntries(
    Object.entries(constants).map(([name, value]) => [`JITDUMP_${name}`, value])),
  functions: map(functions, ({ info }) =>
    [info.result, ...info.arguments.map((argument) => argument.type)].map(koffi.sizeof)),
};
console.log(JSON.stringify(layout));
