import { z } from 'zod';
import { computeAgesHours, timeDecay } from '../../ops/trajectory/time-decay.ts';
import { defineSignal } from './signal.ts';
import { computeColumn, uploadBatch } from './stage.ts';

export const decayOptions = z.strictObject({ halfLifeHours: z.number().positive().default(24) });
export type DecayOptions = z.output<typeof decayOptions>;

/** 0.5^(age / half-life). */
export const decaySignal = defineSignal({
  name: 'decay',
  summary: '0.5^(age / half-life)',
  module: import.meta.url,
  reads: ['times', 'clock'],
  compute: ({ world, pool }, { halfLifeHours }: DecayOptions) => {
    const moments = Float64Array.from(world.queries, ({ timestamp }) => timestamp);
    const ages = computeAgesHours(world.corpus.timestamps, moments, pool.positions);
    return computeColumn(pool, (batch) => timeDecay(uploadBatch(ages, batch), halfLifeHours));
  },
});
