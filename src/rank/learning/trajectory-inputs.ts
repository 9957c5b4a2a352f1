import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import { MASKED } from '../../ops/attention/options.ts';
import type { Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { copySignalColumn, type FeatureTable } from './feature-table.ts';
import { nameFeatures, uploadFeatures } from './linear-model.ts';
import { listAheadSignals, listCoordinateSignals, TURNS_AHEAD } from './model.ts';

/** The number of trajectory coordinates of a trajectory model (3, 5 or 7), and whether a turn attends to itself. */
export interface TrajectoryModelOptions {
  readonly dimensions: Dimensions;
  /** True if a turn attends to itself. */
  readonly self: 'include' | 'exclude';
}

/**
 * Squared differences, row-major [Q, C, M]; at a cold start that of the temporal coordinate alone (section 7.2 of
 * diomande2026ragpp).
 */
function squareDifferences(table: FeatureTable, names: readonly string[]): Float32Array {
  const isCold = copySignalColumn(table, 'cold-start');
  const squares = new Float32Array(table.mask.length * names.length);
  for (const [m, name] of names.entries()) {
    const differences = copySignalColumn(table, name);
    const isTemporal = name === 'coordinate.temporal';
    for (let pair = 0; pair < differences.length; pair++)
      if (isTemporal || isCold[pair] === 0) squares[pair * names.length + m] = differences[pair]! ** 2;
  }
  return squares;
}

/**
 * Ages less that of the row's newest candidate: the division by the row's maximum cancels this, and old rows do not
 * fade to 0.
 */
function subtractLeastAges({ mask, width, queryIds }: FeatureTable, ageHours: Float32Array): Float32Array {
  const result = new Float32Array(ageHours.length);
  for (let query = 0; query < queryIds.length; query++) {
    let least = Number.POSITIVE_INFINITY;
    const end = (query + 1) * width;
    for (let pair = query * width; pair < end; pair++) if (mask[pair] === 1) least = Math.min(least, ageHours[pair]!);
    for (let pair = query * width; pair < end; pair++) if (mask[pair] === 1) result[pair] = ageHours[pair]! - least;
  }
  return result;
}

/**
 * Keys that candidates see when they look forward, each row-major [Q C, K]: `logit = likeness * exp(-decay distance) /
 * temperature + bias`.
 */
interface ForwardKeys {
  readonly likeness: Float32Array;
  readonly distance: Float32Array;
  readonly bias: Float32Array;
  /** K. */
  readonly keys: number;
}

/**
 * The query, the candidate itself if it attends to itself, the turns right after it, and all beyond as one key with
 * bias ln(count). The query is at the end of a ring, so the way back is known: distance of the query the short way plus
 * its steps forward.
 */
export function buildForwardKeys(table: FeatureTable, self: TrajectoryModelOptions['self']): ForwardKeys {
  const cosine = copySignalColumn(table, 'cosine');
  const ring = copySignalColumn(table, 'ring.distance');
  const count = copySignalColumn(table, 'ahead.count');
  const ahead = listAheadSignals().map((name) => copySignalColumn(table, name));
  const seesItself = self === 'include';
  const keys = 2 + Number(seesItself) + TURNS_AHEAD;
  const size = cosine.length * keys;
  const likeness = new Float32Array(size);
  const distance = new Float32Array(size);
  const bias = new Float32Array(size).fill(MASKED);
  let at = 0;
  const push = (cos: number, steps: number) => {
    likeness[at] = (1 + cos) / 2;
    distance[at] = steps;
    bias[at++] = 0;
  };
  for (let pair = 0; pair < cosine.length; pair++) {
    const turns = count[pair] as number;
    const back = ring[pair]! + turns + 1;
    push(cosine[pair]!, ring[pair]!);
    if (seesItself) push(1, 0);
    for (let k = 1; k <= Math.min(turns, TURNS_AHEAD); k++) push(ahead[k - 1]![pair]!, Math.min(k, back - k));
    if (turns > TURNS_AHEAD) bias[at] = Math.log(turns - TURNS_AHEAD);
    at = (pair + 1) * keys;
  }
  return { likeness, distance, bias, keys };
}

/** The inputs of the trajectory model, on the device. */
export function uploadTrajectory(table: FeatureTable, { dimensions, self }: TrajectoryModelOptions): tf.NamedTensorMap {
  const shape: [number, number] = [table.queryIds.length, table.width];
  const uploadSignal = (name: string) => tf.tensor2d(copySignalColumn(table, name), shape);
  const cosine = copySignalColumn(table, 'cosine');
  const { likeness, distance, bias, keys } = buildForwardKeys(table, self);
  const coordinates = listCoordinateSignals(dimensions);
  const uploadForward = (numbers: Float32Array) => tf.tensor3d(numbers, [...shape, keys]);
  return scoped('uploadTrajectory', () => {
    const squares = uploadFeatures([...shape, coordinates.length], (...block) =>
      squareDifferences(table, coordinates.slice(...block)),
    );
    return {
      mask: tf.tensor2d(Float32Array.from(table.mask), shape),
      relevance: uploadSignal('relevance'),
      neighbour: uploadSignal('relevance@neighbour'),
      session: uploadSignal('relevance@session'),
      ages: tf.tensor2d(subtractLeastAges(table, copySignalColumn(table, 'age.hours')), shape),
      likeness: tf.tensor2d(
        cosine.map((cos) => (1 + cos) / 2),
        shape,
      ),
      ringDistance: uploadSignal('ring.distance'),
      ...nameFeatures('squares', squares),
      forwardLikeness: uploadForward(likeness),
      forwardDistance: uploadForward(distance),
      forwardBias: uploadForward(bias),
    };
  });
}
