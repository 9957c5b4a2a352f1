import { createRetentions, type Retention } from '../conservation-drift/retention.ts';
import { driftSettings } from '../conservation-drift/settings.ts';
import type { MeasuredCorpus } from './measured-corpus.ts';
import type { FindingsSettings } from './settings.ts';

/** The salience of each message, by its corpus position. */
export interface Salience {
  readonly name: string;
  readonly of: (position: number) => number;
}

/** The saliences of the memories of conservation-drift: equal, fading with age, growing along a thread. */
export function buildSaliences(
  { corpus }: MeasuredCorpus,
  { halfLifeDays }: FindingsSettings,
): readonly [Salience, Salience, Salience] {
  const memories = createRetentions(corpus, driftSettings.parse({ halfLifeDays }));
  const [equal, , fading, busy] = memories as [Retention, Retention, Retention, Retention];
  return [
    { name: 'all weigh the same', of: equal.salienceOf },
    { name: `halving every ${halfLifeDays} days`, of: fading.salienceOf },
    { name: 'later in the thread, heavier', of: busy.salienceOf },
  ];
}
