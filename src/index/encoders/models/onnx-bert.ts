import { ValidationError } from '../../../core/errors/errors.ts';
import { transposeRows } from '../../../core/tensors/rows.ts';
import type { Steps } from '../../../core/terminal/progress.ts';
import type { OnnxGraph, OnnxNode, OnnxTensor } from './onnx-file.ts';

/** Weights by the names that Hugging Face gives them. */
export interface BertWeights {
  readonly tensors: Readonly<Record<string, { readonly shape: readonly number[]; readonly data: Float32Array }>>;
  /** True if numbers of 8 bits were among the weights. */
  readonly isQuantised: boolean;
}

/** The end of a tensor's name that Hugging Face gives it; exports write the name of a module before it. */
const BERT_NAME = /(?:^|\.)((?:embeddings|encoder)\.[\w.]+\.(?:weight|bias))$/;

const findBertName = (name: string) => BERT_NAME.exec(name)?.[1] ?? null;

/** The endings that onnxruntime's quantiser gives to the three tensors of a weight. */
const [QUANTISED, SCALE, ZERO_POINT] = ['_quantized', '_scale', '_zero_point'];

/**
 * (q - zero point) * scale, in float32. Scale and zero point are one number, or one for each column.
 *
 * @param q [..., columns]
 */
function dequantise({ shape, data: q }: OnnxTensor, scales: ArrayLike<number>, zeros: ArrayLike<number>): Float32Array {
  const columns = shape.at(-1) ?? 1;
  const numbers = new Float32Array(q.length);
  for (let i = 0; i < q.length; i++) {
    const column = i % columns;
    const zero = zeros[zeros.length === 1 ? 0 : column] as number;
    numbers[i] = ((q[i] as number) - zero) * (scales[scales.length === 1 ? 0 : column] as number);
  }
  return numbers;
}

/** The one node that reads each tensor; tensors that several read are absent. */
function findOnlyReaders(nodes: readonly OnnxNode[]): ReadonlyMap<string, OnnxNode> {
  const readers = new Map<string, OnnxNode | null>();
  for (const node of nodes) for (const name of node.inputs) readers.set(name, readers.has(name) ? null : node);
  return new Map([...readers].filter((entry): entry is [string, OnnxNode] => entry[1] !== null));
}

/**
 * The name of a product's weight by the bias that is added behind it: exports number the weights of products. Between
 * them a product of integers is cast and multiplied by its scale. Null where no bias follows.
 */
function nameByBias(product: OnnxNode, readers: ReadonlyMap<string, OnnxNode>, { tensors }: OnnxGraph): string | null {
  const findNext = (node: OnnxNode | undefined) => readers.get(node?.outputs[0] ?? '');
  let node = findNext(product);
  for (const between of ['Cast', 'Mul']) if (node?.op === between) node = findNext(node);
  if (node?.op !== 'Add') return null;
  const bias = node.inputs.find((name) => tensors.has(name) && name.endsWith('.bias'));
  return bias === undefined ? null : (findBertName(bias)?.replace(/bias$/, 'weight') ?? null);
}

/**
 * The weights of a BERT in an ONNX file, under the names and in the shapes of Hugging Face. Weights of products are
 * transposed to [outputs, inputs]; those of 8 bits, as onnxruntime's quantiser writes them, become float32. A step for
 * each tensor.
 *
 * @param path of the file, in errors.
 * @throws ValidationError for a file without a BERT, and for a quantised tensor without its scale.
 */
export function* convertBert(graph: OnnxGraph, path: string): Steps<BertWeights> {
  const { nodes, tensors } = graph;
  const found: [string, BertWeights['tensors'][string]][] = [];
  let isQuantised = false;
  const readFloats = (name: string, tensor: OnnxTensor): Float32Array => {
    if (tensor.data instanceof Float32Array) return tensor.data;
    isQuantised = true;
    const base = name.slice(0, -QUANTISED.length);
    const scales = tensors.get(`${base}${SCALE}`)?.data;
    const zeros = tensors.get(`${base}${ZERO_POINT}`)?.data ?? [0];
    const columns = tensor.shape.at(-1);
    const fits = (size: number) => size === 1 || size === columns;
    if (!name.endsWith(QUANTISED) || scales === undefined || !fits(scales.length) || !fits(zeros.length))
      throw new ValidationError(`tensor ${name} of ${path} has no scale; use a model with float32 weights`, { path });
    return dequantise(tensor, scales, zeros);
  };
  for (const [name, tensor] of tensors) {
    const bertName = findBertName(name.endsWith(QUANTISED) ? name.slice(0, -QUANTISED.length) : name);
    if (bertName === null) continue;
    found.push([bertName, { shape: tensor.shape, data: readFloats(name, tensor) }]);
    yield;
  }
  const readers = findOnlyReaders(nodes);
  for (const node of nodes) {
    if (node.op !== 'MatMul' && node.op !== 'MatMulInteger') continue;
    const name = node.inputs[1] ?? '';
    const tensor = tensors.get(name);
    const bertName = tensor === undefined ? null : nameByBias(node, readers, graph);
    if (tensor === undefined || bertName === null || tensor.shape.length !== 2) continue;
    const [inputs, outputs] = tensor.shape as [number, number];
    found.push([bertName, { shape: [outputs, inputs], data: transposeRows(readFloats(name, tensor), outputs) }]);
    yield;
  }
  if (!found.some(([name]) => name === 'embeddings.word_embeddings.weight'))
    throw new ValidationError(`no BERT in ${path}: no tensor embeddings.word_embeddings.weight; use another model`, {
      path,
    });
  return { tensors: Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1))), isQuantised };
}
