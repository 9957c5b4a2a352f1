import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { scoped } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import { type ConservationMetrics, computeConservationMetrics } from '../../ops/conservation/conservation-metrics.ts';
import { ConservationStream } from '../../ops/conservation/conservation-stream.ts';
import { computeConservationTensors } from '../../ops/conservation/conservation-tensors.ts';
import { type GoldenCase, HOST, type Part, TENSOR, type Topic } from './topic.ts';

const conservationCase = z.looseObject({
  /** [T, D] */
  embeddings: z.array(z.array(z.number())).min(1),
  /** [T] */
  salience: z.array(z.number()),
  expected: z.strictObject({ magnitude: z.number(), energy: z.number(), information: z.number() }),
});
type ConservationCase = z.output<typeof conservationCase>;
type Figures = ConservationCase['expected'];

function pickGoldenFigures({ magnitude, energy, information }: ConservationMetrics): Figures {
  return { magnitude, energy, information };
}

function streamMetrics({ embeddings, salience }: ConservationCase): ConservationMetrics {
  const stream = new ConservationStream((embeddings[0] as number[]).length);
  for (const [i, row] of embeddings.entries()) stream.add(String(i), Float64Array.from(row), salience[i]);
  return stream.computeStreamMetrics();
}

async function computeOnDevice({ embeddings, salience }: ConservationCase): Promise<Figures> {
  const { magnitude, energy, information } = scoped('verification.conservation', () =>
    computeConservationTensors(tf.tensor2d(embeddings), tf.tensor1d(salience)),
  );
  try {
    return {
      magnitude: await magnitude.array(),
      energy: await energy.array(),
      information: await information.array(),
    };
  } finally {
    tf.dispose([magnitude, energy, information]);
  }
}

export const conservation: Topic = {
  name: 'conservation',
  async compute(input: GoldenCase): Promise<readonly Part[]> {
    const golden = parse(conservationCase, input, input.name);
    const { embeddings, salience, expected } = golden;
    const host = computeConservationMetrics(Float64Array.from(embeddings.flat()), salience);
    return [
      { at: 'host', expected, got: pickGoldenFigures(host), tolerance: HOST },
      { at: 'stream', expected, got: pickGoldenFigures(streamMetrics(golden)), tolerance: HOST },
      { at: 'tensors', expected, got: await computeOnDevice(golden), tolerance: TENSOR },
    ];
  },
};
