import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { encodeSafetensors, readCheckedSafetensors } from '../../core/files/safetensors.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { parse, parseJson } from '../../core/validation/validation.ts';
import type { TextOwner, TokenVectors } from '../../model/encoder.ts';
import { projectTokens } from '../../ops/late/token-projection.ts';

const FORMAT = 'ragpp-token-weights-1';
const REMEDY = 'train the tokens again';
/** Rows that are projected at a time. */
const ROWS = 4096;

const header = z.strictObject({
  format: z.literal(FORMAT),
  provenance: z.strictObject({
    /** The settings of the training. */
    settings: z.record(z.string(), z.unknown()),
    dataHash: z.string(),
    seed: z.int(),
    commit: z.string(),
    backend: z.string(),
    trainingClusters: z.array(z.string()).min(1),
    /** Content hashes of their conversations. */
    trainingContents: z.array(z.string()).min(1),
  }),
});

/**
 * What was trained on top of the frozen vectors of tokens, x: they become x (I + U V) of length 1, and the weight of a
 * token of a question is multiplied by exp(gate · x).
 */
export interface TokenWeights {
  /** D. */
  readonly dimension: number;
  /** U, row-major [D, r]. */
  readonly up: Float32Array;
  /** V, row-major [r, D]. */
  readonly down: Float32Array;
  /** [D] */
  readonly gate: Float32Array;
  /** The settings, seed, commit and backend of the training, the hash of its data, and the training conversations. */
  readonly provenance: z.output<typeof header>['provenance'];
}

/** Token weights in the safetensors format, float32. */
export function encodeTokenWeights({ dimension, up, down, gate, provenance }: TokenWeights): Uint8Array {
  const rank = up.length / dimension;
  const tensors = {
    up: { shape: [dimension, rank], data: up },
    down: { shape: [rank, dimension], data: down },
    gate: { shape: [dimension], data: gate },
  };
  return encodeSafetensors({ tensors, metadata: { tokens: JSON.stringify({ format: FORMAT, provenance }) } });
}

/** @throws ValidationError for another file than of token weights; DimensionMismatchError for parts that do not fit. */
export function readTokenWeights(path: string): TokenWeights {
  const { tensors, metadata } = readCheckedSafetensors(path, REMEDY);
  if (metadata.tokens === undefined)
    throw new ValidationError(`not a file of token weights: ${path}; name one that token-tuning wrote`, { path });
  const json = parseJson(metadata.tokens, `metadata of the token weights is not JSON: ${path}; ${REMEDY}`, { path });
  const { provenance } = parse(header, json, path);
  const [dimension = 0] = tensors.gate?.shape ?? [];
  const rank = tensors.up?.shape[1] ?? 0;
  const read = (name: string, ...shape: number[]) => {
    const found = tensors[name]?.shape ?? [];
    if (found.join() !== shape.join())
      throw new DimensionMismatchError(`${name} of ${path}`, `[${shape.join(', ')}]`, `[${found.join(', ')}]`, REMEDY);
    return Float32Array.from(tensors[name]?.data ?? []);
  };
  const [up, down, gate] = [read('up', dimension, rank), read('down', rank, dimension), read('gate', dimension)];
  return { dimension, up, down, gate, provenance };
}

/** exp(gate · x) of each row. @param rows row-major [R, D] */
function computeFactors(rows: Float32Array, gate: Float32Array): Float64Array {
  const factors = new Float64Array(rows.length / gate.length);
  for (let row = 0, at = 0; row < factors.length; row++) {
    let sum = 0;
    for (let d = 0; d < gate.length; d++, at++) sum += (gate[d] as number) * (rows[at] as number);
    factors[row] = Math.exp(sum);
  }
  return factors;
}

/**
 * The trained vectors of frozen ones. A row of a query's has the factor of its token's weight as length.
 *
 * @param texts rows of length 1.
 * @param kinds of the texts.
 */
export async function tuneTokens(
  { dimension, up, down, gate }: TokenWeights,
  texts: readonly TokenVectors[],
  kinds: readonly TextOwner['kind'][],
): Promise<TokenVectors[]> {
  const size = texts.reduce((sum, { vectors }) => sum + vectors.length, 0);
  const frozen = new Float32Array(size);
  let at = 0;
  for (const { vectors } of texts) {
    frozen.set(vectors, at);
    at += vectors.length;
  }
  const tuned = new Float32Array(size);
  const rank = up.length / dimension;
  for (let start = 0; start < size; start += ROWS * dimension) {
    const rows = frozen.subarray(start, start + ROWS * dimension);
    const projected = await readBack('tuneTokens', () =>
      projectTokens(
        tf.tensor2d(rows, [rows.length / dimension, dimension]),
        tf.tensor2d(up, [dimension, rank]),
        tf.tensor2d(down, [rank, dimension]),
      ),
    );
    tuned.set(projected, start);
  }
  at = 0;
  return texts.map((text, i) => {
    const vectors = tuned.slice(at, at + text.vectors.length);
    at += text.vectors.length;
    if (kinds[i] === 'query')
      for (const [row, factor] of computeFactors(text.vectors, gate).entries())
        for (let d = row * dimension; d < (row + 1) * dimension; d++) vectors[d] = factor * (vectors[d] as number);
    return { ...text, vectors };
  });
}
