import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import {
  attentionMix,
  attentionMode,
  type RingAttentionOptions,
  ringAttentionOptions,
} from '../../ops/attention/options.ts';
import { type Attention, type AttentionInputs, ringAttention } from '../../ops/attention/ring-attention.ts';
import { trajectoryAttention } from '../../ops/attention/trajectory-attention.ts';
import { unifiedAttention } from '../../ops/attention/unified-attention.ts';
import { type GoldenCase, type Part, TENSOR, type Topic } from './topic.ts';

interface AttentionCase {
  readonly name: string;
  readonly mechanism?: 'tpo' | 'unified';
  readonly mode?: unknown;
  readonly mix?: unknown;
  readonly options: unknown;
  readonly ringSize: number;
  readonly queries: number[][];
  readonly keys: number[][];
  readonly values: number[][];
  readonly queryPositions: number[];
  readonly keyPositions: number[];
  readonly coordinates?: number[][];
  readonly coordinateWeights?: number[];
  readonly expected: { readonly weights: unknown; readonly output: unknown };
}

function attend(golden: AttentionCase): Attention {
  const inputs: AttentionInputs = {
    queries: tf.tensor2d(golden.queries),
    keys: tf.tensor2d(golden.keys),
    values: tf.tensor2d(golden.values),
    queryPositions: tf.tensor1d(golden.queryPositions, 'int32'),
    keyPositions: tf.tensor1d(golden.keyPositions, 'int32'),
    ringSize: golden.ringSize,
  };
  const options: RingAttentionOptions = parse(ringAttentionOptions, golden.options, golden.name);
  if (golden.mechanism === undefined) return ringAttention(inputs, options);
  if (golden.coordinates === undefined || golden.coordinateWeights === undefined)
    throw new ValidationError(
      `case of ${golden.mechanism} without coordinates and coordinateWeights: ${golden.name}; add them to the case`,
    );
  const coordinates = tf.tensor2d(golden.coordinates);
  const placed = {
    ...inputs,
    queryCoordinates: coordinates,
    keyCoordinates: coordinates,
    coordinateWeights: tf.tensor1d(golden.coordinateWeights),
  };
  if (golden.mechanism === 'tpo') return trajectoryAttention(placed, options);
  const { direction: _, ...shared } = options;
  const mode = parse(attentionMode, golden.mode, golden.name);
  return unifiedAttention(placed, { ...shared, mode, mix: parse(attentionMix, golden.mix, golden.name) });
}

export const attention: Topic = {
  name: 'attention',
  async compute(input: GoldenCase): Promise<readonly Part[]> {
    const golden = input as unknown as AttentionCase;
    const { weights, output } = scoped('verification.attention', () => attend(golden));
    try {
      return [
        { at: 'weights', expected: golden.expected.weights, got: await weights.array(), tolerance: TENSOR },
        { at: 'output', expected: golden.expected.output, got: await output.array(), tolerance: TENSOR },
      ];
    } finally {
      tf.dispose([weights, output]);
    }
  },
};
