import type { ArmInput } from '../../src/lab/workbench/index.ts';
import type { pageRankPlugin } from './page-rank-signal.ts';

export type PlantedArm = ArmInput<readonly [typeof pageRankPlugin]>;

/** An arm with one mechanism, and the arm without it that it is compared with. */
export interface Mechanism {
  readonly arm: PlantedArm;
  readonly base: 'bm25' | 'cosine' | 'time decay';
}

const SHARES = [0.05, 0.1, 0.3, 0.5];

const addMechanism = (name: string, more: Omit<PlantedArm, 'name' | 'extends'>): Mechanism => ({
  arm: { name, extends: 'bm25', ...more },
  base: 'bm25',
});

const attend = (name: string, attention: NonNullable<PlantedArm['attention']>): Mechanism =>
  addMechanism(name, { attention, tune: { 'attention.weight': SHARES, 'attention.decay': [0.05, 0.5] } });

const propagate = (preset: 'published' | 'framework'): Mechanism => ({
  arm: { name: `propagation, ${preset}`, extends: 'cosine', propagation: { preset } },
  base: 'cosine',
});

const walk = (links: 'replies' | 'names'): Mechanism =>
  addMechanism(`PageRank, ${links}`, {
    relevance: { signals: ['pagerank'], options: { pagerank: { links, damping: 0.85, weight: 0.3 } } },
    tune: { 'relevance.options.pagerank.weight': SHARES, 'relevance.options.pagerank.damping': [0.5, 0.85] },
  });

/** A mechanism on top of time decay, as the ablation on mail adds it: is anything left to find? */
const addToDecay = (name: string, more: Omit<PlantedArm, 'name' | 'extends'>): Mechanism => ({
  arm: { name: `decay + ${name}`, extends: 'time decay', ...more },
  base: 'time decay',
});

/** What is measured: each adds one mechanism to words, to vectors or to time decay. Its numbers are tuned on dev conversations. */
export const MECHANISMS: readonly Mechanism[] = [
  addMechanism('time decay', { decay: { halfLifeHours: 24 }, tune: { 'decay.halfLifeHours': [6, 24, 96] } }),
  addMechanism('trajectory', { trajectory: { dimensions: 5 }, tune: { 'trajectory.weight': SHARES } }),
  attend('RCP, ring', { mechanism: 'rcp' }),
  attend('RCP, line', { mechanism: 'rcp', topology: 'line' }),
  attend('IRCP, directed', { mechanism: 'ircp', mode: 'directed' }),
  attend('TPO', { mechanism: 'tpo' }),
  attend('unified', { mechanism: 'unified', mode: 'directed' }),
  propagate('published'),
  propagate('framework'),
  walk('replies'),
  walk('names'),
  addToDecay('trajectory', { trajectory: { dimensions: 5 }, tune: { 'trajectory.weight': SHARES } }),
  addToDecay('RCP, ring', { attention: { mechanism: 'rcp' }, tune: { 'attention.weight': SHARES } }),
  addToDecay('TPO', { attention: { mechanism: 'tpo' }, tune: { 'attention.weight': SHARES } }),
];

/** The arms of a run: every arm scores all earlier turns of the conversation. */
export function buildPlantedArms(turns: number): PlantedArm[] {
  const candidates = [
    { index: 'bm25', k: turns },
    { index: 'flat', k: turns },
    { index: 'newest', k: turns },
  ] as const;
  return [
    { name: 'bm25', candidates, relevance: { signals: ['bm25'] } },
    { name: 'cosine', candidates, relevance: { signals: ['cosine'] } },
    ...MECHANISMS.map(({ arm }) => arm),
  ];
}
