import * as tf from '@tensorflow/tfjs-core';
import { attentionLogits, type LogitOptions } from '../attention/attention-logits.ts';
import type { RingAttentionOptions } from '../attention/options.ts';
import { readBack } from '../core/read-back.ts';
import { scoped } from '../core/scope.ts';
import { assertShape } from '../core/shapes.ts';
import type { ForwardCosines } from './forward-cosines.ts';

/** Pairs in one tensor operation. */
const BATCH_PAIRS = 4096;
/** Below every logit that occurs, and finite. */
const MASKED = -1e30;
/** Stands for an empty sum, whose logarithm would be -infinity; a sum that is not empty is at least 1 after its greatest term is taken out. */
const EMPTY_SUM = 1e-30;

export type ForwardOptions = Omit<RingAttentionOptions, 'direction'>;

/** Keys of P forward-looking turns, K each at most. */
export interface ForwardKeys {
  /** [P, K] */
  readonly cosine: tf.Tensor2D;
  /** [P, K] */
  readonly distance: tf.Tensor2D;
  /** bool [P, K], false for padding. */
  readonly counted: tf.Tensor2D;
  /** [P, 1] number of further keys, beyond the band. */
  readonly far: tf.Tensor2D;
}

/**
 * `ln sum_j e^logit_j` over a turn's keys, far ones counting e^0 = 1 each (multiplicative) or nothing (additive).
 *
 * @returns [P, 1]; a number far below every logit where there is no key
 */
export function logMass({ cosine, distance, counted, far }: ForwardKeys, options: LogitOptions): tf.Tensor2D {
  const sizes = assertShape('cosine', cosine, 'P K');
  assertShape('distance', distance, 'P K', sizes);
  assertShape('counted', counted, 'P K', sizes);
  assertShape('far', far, 'P 1', sizes);
  return scoped('logMass', () => {
    const logits = tf.where(counted, attentionLogits(cosine, distance, options), MASKED);
    const nearest = tf.max(logits, 1, true);
    const greatest = options.combine === 'multiplicative' ? tf.maximum(nearest, 0) : nearest;
    const near = tf.sum(tf.mul(tf.exp(tf.sub(logits, greatest)), tf.cast(counted, 'float32')), 1, true);
    const sum = options.combine === 'multiplicative' ? tf.add(near, tf.mul(far, tf.exp(tf.neg(greatest)))) : near;
    return tf.add(greatest, tf.log(tf.maximum(sum, EMPTY_SUM)));
  });
}

/** A turn that looks forward over a conversation of `turns` turns, on a ring that the query has joined. */
interface Looker {
  readonly row: number;
  readonly place: number;
  readonly turns: number;
}

/** Calls `visit` for each key in the band but the query, once; returns how many keys are beyond it. */
function visitKeys(
  tables: ForwardCosines,
  { row, place, turns }: Looker,
  { topology, self }: ForwardOptions,
  visit: (cosine: number, distance: number) => void,
): number {
  const { width, next, first } = tables;
  const steps = turns - place;
  const start = self === 'include' ? 0 : 1;
  const ring = topology === 'ring' ? turns + 1 : Number.POSITIVE_INFINITY;
  const end = Math.min(steps, width + 1);
  for (let k = start; k < end; k++) visit(next[row * (width + 1) + k] as number, Math.min(k, ring - k));
  // Turns more than W places later, but at most W steps the other way round.
  const wrapped = Math.max(width + 1, ring - width);
  for (let k = wrapped; k < steps; k++) visit(first[(row + k) * width + place] as number, ring - k);
  return Math.max(0, steps - start) - Math.max(0, end - start) - Math.max(0, steps - wrapped);
}

function batchMasses(
  tables: ForwardCosines,
  lookers: readonly Looker[],
  options: ForwardOptions,
): Promise<Float32Array> {
  const keys = 2 * tables.width + 1;
  const shape: [number, number] = [lookers.length, keys];
  const cosine = new Float32Array(lookers.length * keys);
  const distance = new Float32Array(cosine.length);
  const counted = new Uint8Array(cosine.length);
  const far = Float32Array.from(lookers, (looker, i) => {
    let at = i * keys;
    return visitKeys(tables, looker, options, (similarity, steps) => {
      cosine[at] = similarity;
      distance[at] = steps;
      counted[at++] = 1;
    });
  });
  return readBack('batchMasses', () => {
    const tensors = {
      cosine: tf.tensor2d(cosine, shape),
      distance: tf.tensor2d(distance, shape),
      counted: tf.tensor2d(counted, shape, 'bool'),
      far: tf.tensor2d(far, [lookers.length, 1]),
    };
    return logMass(tensors, options);
  });
}

/**
 * For each pair of a query and a candidate the log mass of what the candidate sees when it looks forward over the turns after it (and itself, unless `self` is
 * exclude) up to, and without, the query. It depends on the query only through the number of turns as of then, so each (candidate, turns) is computed once.
 *
 * @param positions [B C] corpus positions, -1 for padding
 * @param ringPositions [B C] p
 * @param turns [B C] n
 * @returns [B C], 0 for padding
 */
export async function forwardLogMasses(
  tables: ForwardCosines,
  pairs: { readonly positions: Int32Array; readonly ringPositions: Int32Array; readonly turns: Int32Array },
  options: ForwardOptions,
): Promise<Float32Array> {
  const { positions, ringPositions, turns } = pairs;
  const most = turns.reduce((a, b) => Math.max(a, b), 0) + 1;
  const indices = new Map<number, number>();
  const lookers: Looker[] = [];
  const indexOf = positions.map((position, pair) => {
    if (position < 0) return -1;
    const looker = {
      row: tables.rows[position] as number,
      place: ringPositions[pair] as number,
      turns: turns[pair] as number,
    };
    const key = looker.row * most + looker.turns;
    const known = indices.get(key);
    if (known !== undefined) return known;
    indices.set(key, lookers.length);
    return lookers.push(looker) - 1;
  });
  const masses = new Float32Array(lookers.length);
  for (let start = 0; start < lookers.length; start += BATCH_PAIRS)
    masses.set(await batchMasses(tables, lookers.slice(start, start + BATCH_PAIRS), options), start);
  return Float32Array.from(indexOf, (index) => (index < 0 ? 0 : (masses[index] as number)));
}
