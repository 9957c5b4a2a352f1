import type { BertArrays } from '../../../ops/bert/bert.ts';
import type { OnnxNode } from './onnx-file.ts';

/** A tensor to write, by its bytes or, as `fields`, number by number. */
export interface WrittenTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array | Uint8Array | Int8Array;
  readonly as?: 'bytes' | 'fields' | 'elsewhere';
}

function writeVarint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest < 0x80n) return Buffer.from([...bytes, low]);
    bytes.push(low | 0x80);
  }
}

/** A field of Protocol Buffers: an integer, or bytes. */
function writeField(field: number, value: number | string | Uint8Array): Buffer {
  if (typeof value === 'number') return Buffer.concat([writeVarint(field << 3), writeVarint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([writeVarint((field << 3) | 2), writeVarint(bytes.length), bytes]);
}

const asBytes = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

function writeTensor({ name, shape, data, as = 'bytes' }: WrittenTensor): Buffer {
  const type = data instanceof Float32Array ? 1 : data instanceof Uint8Array ? 2 : 3;
  const floats = data instanceof Float32Array;
  const numbers = {
    bytes: () => writeField(9, asBytes(data)),
    fields: () => (floats ? writeField(4, asBytes(data)) : writeField(5, Buffer.concat([...data].map(writeVarint)))),
    elsewhere: () => writeField(14, 1),
  };
  const sizes = shape.map((size) => writeField(1, size));
  return Buffer.concat([...sizes, writeField(2, type), numbers[as](), writeField(8, name)]);
}

/** An ONNX file of the tensors and operations. */
export function writeOnnx(tensors: readonly WrittenTensor[], nodes: readonly OnnxNode[]): Buffer {
  const graph = [
    ...nodes.map(({ op, inputs, outputs }) =>
      writeField(
        1,
        Buffer.concat([
          ...inputs.map((name) => writeField(1, name)),
          ...outputs.map((name) => writeField(2, name)),
          writeField(4, op),
        ]),
      ),
    ),
    ...tensors.map((tensor) => writeField(5, writeTensor(tensor))),
  ];
  return Buffer.concat([writeField(1, 8), writeField(2, 'by hand'), writeField(7, Buffer.concat(graph))]);
}

/** Weights of a BERT as an export writes them: those of products numbered, transposed, and with their biases behind. */
export function writeOnnxBert(weights: BertArrays): Buffer {
  const tensors: WrittenTensor[] = [];
  const nodes: OnnxNode[] = [];
  for (const [name, { shape, data }] of Object.entries(weights)) {
    const isProduct = shape.length === 2 && !name.startsWith('embeddings.');
    if (!isProduct) tensors.push({ name: `m.${name}`, shape, data: Float32Array.from(data) });
    if (!isProduct) continue;
    const [outputs, inputs] = shape as [number, number];
    const [weight, product] = [`onnx::MatMul_${nodes.length}`, `product of ${name}`];
    const transposed = Float32Array.from({ length: data.length }, (_, i) => {
      return data[(i % outputs) * inputs + Math.floor(i / outputs)] as number;
    });
    tensors.push({ name: weight, shape: [inputs, outputs], data: transposed });
    nodes.push({ op: 'MatMul', inputs: [`input of ${name}`, weight], outputs: [product] });
    const bias = `m.${name.replace(/weight$/, 'bias')}`;
    nodes.push({ op: 'Add', inputs: [bias, product], outputs: [`output of ${name}`] });
  }
  return writeOnnx(tensors, nodes);
}
