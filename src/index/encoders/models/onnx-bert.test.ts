import { expect, test } from 'vitest';
import { ChecksumMismatchError, RagPlusPlusError, ValidationError } from '../../../core/errors/errors.ts';
import { finishSteps } from '../../../core/terminal/progress.ts';
import { drawBert } from '../../../ops/bert/bert.fixture.ts';
import { type WrittenTensor, writeOnnx, writeOnnxBert } from './onnx.fixture.ts';
import { convertBert } from './onnx-bert.ts';
import { type OnnxNode, readOnnx } from './onnx-file.ts';

const convert = (bytes: Uint8Array) => finishSteps(convertBert(readOnnx(bytes, 'm.onnx'), 'm.onnx'));

const WORDS = 'embeddings.word_embeddings.weight';
const QUERY = 'encoder.layer.0.attention.self.query';
const bias: WrittenTensor = { name: `${QUERY}.bias`, shape: [3], data: Float32Array.of(0.5, -1, 2), as: 'fields' };

/** A product of integers, as onnxruntime's quantiser writes it. */
const INTEGER_PRODUCT: readonly OnnxNode[] = [
  { op: 'MatMulInteger', inputs: ['x', 'onnx::MatMul_7_quantized', 'x zero', 'w zero'], outputs: ['product'] },
  { op: 'Cast', inputs: ['product'], outputs: ['cast'] },
  { op: 'Mul', inputs: ['cast', 'scales'], outputs: ['scaled'] },
  { op: 'Add', inputs: [`${QUERY}.bias`, 'scaled'], outputs: ['sum'] },
];

const QUANTISED: readonly WrittenTensor[] = [
  bias,
  { name: `${WORDS}_quantized`, shape: [2, 2], data: Uint8Array.of(7, 131, 255, 130) },
  { name: `${WORDS}_scale`, shape: [], data: Float32Array.of(0.25), as: 'fields' },
  { name: `${WORDS}_zero_point`, shape: [], data: Uint8Array.of(130), as: 'fields' },
  { name: 'onnx::MatMul_7_quantized', shape: [2, 3], data: Int8Array.of(1, -2, 3, -128, 127, 0) },
  { name: 'onnx::MatMul_7_scale', shape: [3], data: Float32Array.of(2, 3, 5) },
  { name: 'onnx::MatMul_7_zero_point', shape: [3], data: Int8Array.of(0, 1, -1), as: 'fields' },
];

test('a product’s weight is named by its bias and transposed; the name of a module before the names is left out', () => {
  const weights = drawBert(7);
  const { tensors, isQuantised } = convert(writeOnnxBert(weights));
  expect(tensors).toEqual(weights);
  expect(isQuantised).toBe(false);
});

test('numbers of 8 bits are (q - zero point) scale, by column where there is one for each', () => {
  const { tensors, isQuantised } = convert(writeOnnx(QUANTISED, INTEGER_PRODUCT));
  expect(isQuantised).toBe(true);
  const words = [7, 131, 255, 130].map((q) => (q - 130) * 0.25);
  expect(tensors[WORDS]).toEqual({ shape: [2, 2], data: Float32Array.from(words) });
  const product = [(1 - 0) * 2, (-128 - 0) * 2, (-2 - 1) * 3, (127 - 1) * 3, (3 + 1) * 5, (0 + 1) * 5];
  expect(tensors[`${QUERY}.weight`]).toEqual({ shape: [3, 2], data: Float32Array.from(product) });
  expect(tensors[`${QUERY}.bias`]?.data).toEqual(bias.data);
});

test.each([
  ['weights of 8 bits without their scale', QUANTISED.filter(({ name }) => !name.endsWith('_scale')), /has no scale/],
  ['no BERT', [bias], /no BERT in m\.onnx: no tensor embeddings\.word_embeddings\.weight/],
  ['numbers in a file beside', [{ ...bias, as: 'elsewhere' }], /numbers of \S+ in m\.onnx are in another file/],
] as const)('a file with %s is refused', (_, tensors, message) => {
  const bytes = writeOnnx(tensors, INTEGER_PRODUCT);
  expect(() => convert(bytes)).toThrow(ValidationError);
  expect(() => convert(bytes)).toThrow(message);
});

test('a file that is cut anywhere is refused', () => {
  const bytes = writeOnnx(QUANTISED, INTEGER_PRODUCT);
  for (let length = 0; length < bytes.length; length++)
    expect(() => convert(bytes.subarray(0, length))).toThrow(ChecksumMismatchError);
});

test('a byte that is changed is read as other numbers or names, or is an error of the project', () => {
  const bytes = writeOnnx(QUANTISED, INTEGER_PRODUCT);
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] as number) ^ 0xff;
    try {
      convert(damaged);
    } catch (error) {
      expect(error).toBeInstanceOf(RagPlusPlusError);
    }
  }
});
