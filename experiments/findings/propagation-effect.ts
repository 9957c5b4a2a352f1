import { viewRow } from '../../src/core/tensors/rows.ts';
import { propagateCorpus } from '../../src/ops/attention/corpus-propagation.ts';
import { PROPAGATION_PRESETS, type PropagationOptions } from '../../src/ops/attention/options.ts';
import { weightMatrix } from './conversation-weights.ts';
import { gatherMessageVectors, type MeasuredCorpus } from './measured-corpus.ts';

/** The effect of propagation on the messages of threads. */
export interface PropagationEffect {
  readonly settings: string;
  readonly options: PropagationOptions;
  /** Mean weight of a message among its own keys. */
  readonly ownWeight: number;
  /** Mean and least cosine between a message before and after. */
  readonly unchanged: number;
  readonly mostChanged: number;
  /** Mean cosine of a reply to the message that it answers, before and after; null if no message answers another. */
  readonly parentBefore: number | null;
  readonly parentAfter: number | null;
}

const { published, framework } = PROPAGATION_PRESETS;

/** From the paper's settings to the framework's, one change at a time. */
const STEPS: readonly (readonly [string, PropagationOptions])[] = [
  ['published', published],
  ['+ beta .5', { ...published, beta: 0.5 }],
  ['+ itself left out', { ...published, beta: 0.5, self: 'exclude' }],
  ['+ additive', { ...published, beta: 0.5, self: 'exclude', combine: 'additive' }],
  ['framework default', framework],
];

/** [N, D], by the position of its rows. */
type Rows = (position: number) => Float32Array;

function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, square, other] = [0, 0, 0];
  for (let d = 0; d < a.length; d++) {
    dot += (a[d] as number) * (b[d] as number);
    square += (a[d] as number) ** 2;
    other += (b[d] as number) ** 2;
  }
  return square === 0 || other === 0 ? 0 : dot / Math.sqrt(square * other);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Mean weight that the messages of threads give themselves. */
async function measureOwnWeight(measured: MeasuredCorpus, options: PropagationOptions): Promise<number> {
  const own: number[] = [];
  for (const positions of measured.conversations) {
    if (positions.length === 1) continue;
    const thread = { turns: positions.length, vectors: gatherMessageVectors(measured, positions) };
    const weights = await weightMatrix(thread, 'causal', options);
    for (let i = 0; i < thread.turns; i++) own.push(weights[i * thread.turns + i] as number);
  }
  return mean(own);
}

/** Positions of what can change: messages of threads, those without a known word (a zero vector) left out. */
function listMovablePositions({ conversations, embeddings, dimension }: MeasuredCorpus): number[] {
  return conversations
    .filter(({ length }) => length > 1)
    .flatMap((positions) => [...positions])
    .filter((position) => viewRow(embeddings, dimension, position).some((value) => value !== 0));
}

function measureParentCosine({ corpus }: MeasuredCorpus, positions: readonly number[], rows: Rows): number | null {
  const replies = positions.filter((position) => (corpus.parent[position] as number) >= 0);
  if (replies.length === 0) return null;
  return mean(replies.map((position) => cosine(rows(position), rows(corpus.parent[position] as number))));
}

/** The effect of each step from the paper's settings to the framework's, on whole threads. */
export async function measurePropagationEffects(measured: MeasuredCorpus): Promise<PropagationEffect[]> {
  const { corpus, embeddings, dimension } = measured;
  const positions = listMovablePositions(measured);
  const readRowBefore: Rows = (position) => viewRow(embeddings, dimension, position);
  const effects: PropagationEffect[] = [];
  for (const [settings, options] of STEPS) {
    const { vectors } = await propagateCorpus(corpus, embeddings, options);
    const readRowAfter: Rows = (position) => viewRow(vectors, dimension, position);
    const kept = positions.map((position) => cosine(readRowBefore(position), readRowAfter(position)));
    effects.push({
      settings,
      options,
      ownWeight: await measureOwnWeight(measured, options),
      unchanged: mean(kept),
      mostChanged: kept.reduce((least, value) => Math.min(least, value), 1),
      parentBefore: measureParentCosine(measured, positions, readRowBefore),
      parentAfter: measureParentCosine(measured, positions, readRowAfter),
    });
  }
  return effects;
}
