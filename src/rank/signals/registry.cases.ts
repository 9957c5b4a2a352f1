import { freezeDeeply } from '../../core/values/once.ts';
import { attentionSignal } from './attention.ts';
import { bm25Signal } from './bm25.ts';
import { boostSignal } from './boost.ts';
import { cosineSignal } from './cosine.ts';
import { closedFactsSignal, curationSignal } from './curation.ts';
import { decaySignal } from './decay.ts';
import { lateSignal } from './late.ts';
import { recencySignal } from './recency.ts';
import { strategySignal } from './strategy.ts';
import { trajectorySignal } from './trajectory.ts';

/** Every signal of a hand-written chain: to add one takes its file and a line here. */
export const SIGNALS = freezeDeeply([
  bm25Signal,
  cosineSignal,
  recencySignal,
  boostSignal,
  curationSignal,
  closedFactsSignal,
  decaySignal,
  trajectorySignal,
  attentionSignal,
  strategySignal,
  lateSignal,
] as const);
