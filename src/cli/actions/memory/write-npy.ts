import { writeAtomic } from '../../../core/files/files.ts';

const ALIGNMENT = 64;
/** Magic string, version 1.0, and 2 bytes of length. */
const PREFIX_BYTES = 10;

/** Writes a matrix [rows, D] of float32 as npy version 1.0, atomically. numpy.lib.format. */
export function writeNpy(path: string, values: Float32Array, rows: number): void {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${values.length / rows}), }`;
  const length = Math.ceil((PREFIX_BYTES + text.length + 1) / ALIGNMENT) * ALIGNMENT - PREFIX_BYTES;
  const prefix = Buffer.from('\x93NUMPY\x01\x00\x00\x00', 'latin1');
  prefix.writeUInt16LE(length, PREFIX_BYTES - 2);
  const header = Buffer.from(`${text.padEnd(length - 1)}\n`, 'latin1');
  writeAtomic(path, Buffer.concat([prefix, header, Buffer.from(values.buffer, values.byteOffset, values.byteLength)]));
}
