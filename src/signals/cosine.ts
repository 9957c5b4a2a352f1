import * as tf from '@tensorflow/tfjs-core';
import type { PropagationOptions } from '../attention/options.ts';
import { computePairCosines } from './pair-cosines.ts';
import { propagatedRows } from './propagated.ts';
import { defineSignal, type StageUse } from './signal.ts';
import { findVersionRows } from './version-rows.ts';

type Versions = ReturnType<typeof propagatedRows> extends StageUse<infer R> ? R : never;

/** Cosine of every pair; with propagation, to the version of the turn that is valid at the query's moment. */
export const cosineSignal = defineSignal<PropagationOptions | null, { versions?: StageUse<Versions> }>({
  name: 'cosine',
  summary:
    "cosine by the experiment's encoder; with `propagation`, to the turn's vector mixed with those of its conversation",
  module: import.meta.url,
  reads: (propagation) => (propagation === null ? ['vectors'] : ['vectors', 'times', 'order']),
  key: () => null,
  inputs: (propagation) => (propagation === null ? {} : { versions: propagatedRows(propagation) }),
  compute: ({ world, pool, inputs }, propagation) => {
    const { dimension, shared, batch } = world;
    const versions = inputs.versions as Versions | undefined;
    if (versions === undefined) {
      const rows = { vectors: world.turnVectors, dimension, tensor: () => world.getCorpusTensor() };
      return computePairCosines(rows, batch.vectors, pool.positions);
    }
    const { vectors, positions } = versions;
    const tensor = () =>
      shared.keepOnce(['version tensor', propagation, world.control], () =>
        shared.keepResource(tf.tensor2d(vectors, [positions.length, dimension])),
      );
    return computePairCosines(
      { vectors, dimension, tensor },
      batch.vectors,
      findVersionRows(versions, pool, batch.cutoffs),
    );
  },
});
