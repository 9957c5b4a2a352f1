import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { matmul } from '../../core/tensors/matmul.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { type LayerParts, type Norm, normaliseRows, TENSOR_PARTS } from './layer-parts.ts';
import { fitsWasmParts, WASM_PARTS } from './wasm-parts.ts';

/** The sizes of a BERT, by their names in `config.json`. */
export interface BertSizes {
  /** D. */
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly intermediate_size: number;
  readonly max_position_embeddings: number;
  readonly vocab_size: number;
  readonly layer_norm_eps: number;
}

/** Arrays by the names that Hugging Face gives them, such as `encoder.layer.0.attention.self.query.weight`. */
export type BertArrays = Readonly<
  Record<string, { readonly shape: readonly number[]; readonly data: ArrayLike<number> }>
>;

/** A linear layer, x W + b. */
type Linear = {
  /** [inputs, outputs] */
  readonly weight: tf.Tensor2D;
  /** [outputs] */
  readonly bias: tf.Tensor1D;
  readonly adapter?: Adapter;
};

/** Adds (x A) B to a linear layer. Hu et al. 2021, "LoRA". */
type Adapter = {
  /** A, [inputs, rank]. */
  readonly down: tf.Tensor2D;
  /** B, [rank, outputs]. */
  readonly up: tf.Tensor2D;
};

/** A layer of a BERT. */
export type BertLayer = {
  /** Query, key and value beside each other, [D, 3 D]: one product instead of three. */
  readonly attention: Linear;
  readonly output: Linear;
  readonly outputNorm: Norm;
  readonly inner: Linear;
  readonly outer: Linear;
  readonly outerNorm: Norm;
};

/** The weights of a BERT: embeddings on the host, where a batch needs few of their rows, layers on the device. */
export interface Bert {
  readonly sizes: BertSizes;
  /** [vocabulary, D] */
  readonly words: Float32Array;
  /** [positions, D], with the embedding of the first segment added. */
  readonly positions: Float32Array;
  readonly norm: Norm;
  readonly layers: readonly BertLayer[];
}

/**
 * Puts the weights of a BERT on the device. Devlin et al. 2019, "BERT".
 *
 * @param arrays by the names of Hugging Face, with or without `bert.` before them.
 * @throws ValidationError for an array that is missing or has another shape, and for heads that do not divide D; no
 *   tensor stays then. The caller disposes the result by {@link disposeBert}.
 */
export function uploadBert(arrays: BertArrays, sizes: BertSizes): Bert {
  const { hidden_size: D, intermediate_size: inner, num_hidden_layers: layers, num_attention_heads: heads } = sizes;
  if (D % heads !== 0)
    throw new ValidationError(`hidden_size ${D} of ${heads} heads; use the config.json of the model`, { D, heads });
  const find = (name: string) => arrays[name] ?? arrays[`bert.${name}`];
  const read = (name: string, shape: readonly number[]): Float32Array => {
    const found = find(name);
    if (found === undefined || found.shape.join() !== shape.join())
      throw new ValidationError(
        `weights of a BERT have ${found === undefined ? 'no' : `[${found.shape.join(', ')}] for`} ${name}, which is [${shape.join(', ')}]; use the files of one model`,
        { name, shape },
      );
    return found.data instanceof Float32Array ? found.data : Float32Array.from(found.data);
  };
  const uploadNorm = (name: string): Norm => ({
    scale: tf.tensor1d(read(`${name}.weight`, [D])),
    shift: tf.tensor1d(read(`${name}.bias`, [D])),
  });
  const uploadLinear = (names: readonly string[], inputs: number, outputs: number): Linear => ({
    weight: scoped('transpose', () => {
      const parts = names.map((name) => tf.tensor2d(read(`${name}.weight`, [outputs, inputs]), [outputs, inputs]));
      return tf.transpose(parts.length === 1 ? (parts[0] as tf.Tensor2D) : tf.concat(parts, 0));
    }),
    bias: scoped('bias', () => tf.concat(names.map((name) => tf.tensor1d(read(`${name}.bias`, [outputs]))))),
  });
  const ofSegments = 'embeddings.token_type_embeddings.weight';
  const segments = read(ofSegments, [find(ofSegments)?.shape[0] ?? 2, D]);
  const positions = read('embeddings.position_embeddings.weight', [sizes.max_position_embeddings, D]).map(
    (value, i) => value + (segments[i % D] as number),
  );
  const words = read('embeddings.word_embeddings.weight', [sizes.vocab_size, D]);
  const onDevice = scoped('uploadBert', () => ({
    norm: uploadNorm('embeddings.LayerNorm'),
    layers: Array.from({ length: layers }, (_, l): BertLayer => {
      const at = `encoder.layer.${l}`;
      const parts = ['query', 'key', 'value'].map((part) => `${at}.attention.self.${part}`);
      return {
        attention: uploadLinear(parts, D, D),
        output: uploadLinear([`${at}.attention.output.dense`], D, D),
        outputNorm: uploadNorm(`${at}.attention.output.LayerNorm`),
        inner: uploadLinear([`${at}.intermediate.dense`], D, inner),
        outer: uploadLinear([`${at}.output.dense`], inner, D),
        outerNorm: uploadNorm(`${at}.output.LayerNorm`),
      };
    }),
  }));
  return { sizes, words, positions, ...onDevice };
}

export function disposeBert({ norm, layers }: Bert): void {
  tf.dispose([norm, ...layers]);
}

/** [B T, D] the sums of the embeddings of pieces and positions. */
function sumEmbeddings({ sizes, words, positions }: Bert, ids: Int32Array, length: number): Float32Array {
  const { hidden_size: D, vocab_size } = sizes;
  const sums = new Float32Array(ids.length * D);
  for (const [row, id] of ids.entries()) {
    if (!(id >= 0 && id < vocab_size))
      throw new ValidationError(`no piece of the vocabulary of ${vocab_size}: ${id}; use the tokenizer of the model`, {
        id,
      });
    const position = (row % length) * D;
    for (let d = 0; d < D; d++) sums[row * D + d] = (words[id * D + d] as number) + (positions[position + d] as number);
  }
  return sums;
}

/** x W, with an adapter x W + (x A) B. @param x [R, inputs] */
function multiply(x: tf.Tensor2D, { weight, adapter }: Linear): tf.Tensor2D {
  const y = matmul(x, weight);
  return adapter === undefined ? y : tf.add(y, matmul(matmul(x, adapter.down), adapter.up));
}

/**
 * The vectors of the pieces of some texts of one length: the last layer's.
 *
 * @param ids [B T] pieces of the vocabulary, text by text, the special ones included.
 * @param length T.
 * @returns [B T, D]
 */
export function runBert(bert: Bert, ids: Int32Array, length: number): tf.Tensor2D {
  const { sizes, norm, layers } = bert;
  const { hidden_size: D, layer_norm_eps: epsilon, max_position_embeddings: most } = sizes;
  if (!(length >= 1 && length <= most) || ids.length % length !== 0)
    throw new ValidationError(`texts of ${length} pieces: expected 1 to ${most}, and whole texts; cut longer texts`, {
      length,
      pieces: ids.length,
    });
  return scoped('bert', () => {
    const embedded = tf.tensor2d(sumEmbeddings(bert, ids, length), [ids.length, D]);
    const parts = fitsWasmParts(sizes) ? WASM_PARTS : TENSOR_PARTS;
    return runBertLayers(sizes, layers, normaliseRows(embedded, norm, epsilon), length, parts);
  });
}

/**
 * Runs some layers one after the other, such as the last of a BERT on what the others gave.
 *
 * @param x [B T, D] @param length T.
 * @param parts differentiable ones if absent.
 * @returns [B T, D]
 */
export function runBertLayers(
  { num_attention_heads: heads, layer_norm_eps: epsilon }: BertSizes,
  layers: readonly BertLayer[],
  x: tf.Tensor2D,
  length: number,
  parts: LayerParts = TENSOR_PARTS,
): tf.Tensor2D {
  return layers.reduce(
    (rows, { attention, output, outputNorm, inner, outer, outerNorm }) =>
      scoped('layer', () => {
        const mixed = parts.attend(multiply(rows, attention), attention.bias, heads, length);
        const first = parts.normalise(multiply(mixed, output), output.bias, rows, outputNorm, epsilon);
        const widened = parts.gelu(multiply(first, inner), inner.bias);
        return parts.normalise(multiply(widened, outer), outer.bias, first, outerNorm, epsilon);
      }),
    x,
  );
}
