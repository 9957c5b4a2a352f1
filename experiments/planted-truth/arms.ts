import type { ArmInput, ArmMapping } from '../../src/lab/workbench/experiment.ts';
import { blend, decay, fuse, propagate, score, search } from '../../src/rank/retrieval/steps/functions.ts';
import type { pageRankPlugin } from './page-rank-signal.ts';

type PlantedPlugins = readonly [typeof pageRankPlugin];
export type PlantedArm = ArmInput<PlantedPlugins>;

/** An arm with one mechanism, and the arm without it that it is compared with. */
export interface Mechanism {
  readonly name: string;
  /** @param turns that each source finds. */
  build(turns: number): PlantedArm;
  readonly base: 'bm25' | 'cosine' | 'time decay';
}

const SHARES = [0.05, 0.1, 0.3, 0.5];

/** Every arm scores all earlier turns of the conversation. */
const searchAll = (k: number) => search({ bm25: { k }, flat: { k }, newest: { k } });

const addMechanism = (name: string, more: Omit<ArmMapping<PlantedPlugins>, 'from'>): Mechanism => ({
  name,
  build: () => ({ from: 'bm25', ...more }),
  base: 'bm25',
});

const attend = (name: string, mechanism: 'rcp' | 'ircp' | 'tpo' | 'unified', options = {}): Mechanism =>
  addMechanism(name, {
    then: [blend({ [mechanism]: options })],
    tune: { [`blend.${mechanism}.weight`]: SHARES, [`blend.${mechanism}.decay`]: [0.05, 0.5] },
  });

const propagateBy = (preset: 'published' | 'framework'): Mechanism => ({
  name: `propagation, ${preset}`,
  build: (turns) => [propagate(preset), searchAll(turns), fuse({ only: 'flat' })],
  base: 'cosine',
});

const walk = (links: 'replies' | 'names'): Mechanism => ({
  name: `PageRank, ${links}`,
  build: (turns) => ({
    steps: [searchAll(turns), score({ pagerank: { links, damping: 0.85, weight: 0.3 } }), fuse({ only: 'pagerank' })],
    tune: { 'score.pagerank.weight': SHARES, 'score.pagerank.damping': [0.5, 0.85] },
  }),
  base: 'bm25',
});

/** A mechanism on top of time decay, as the ablation on mail adds it: is anything left to find? */
const addToDecay = (name: string, mechanism: 'trajectory' | 'rcp' | 'tpo'): Mechanism => ({
  name: `decay + ${name}`,
  build: () => ({
    from: 'time decay',
    then: [blend({ [mechanism]: {} })],
    tune: { [`blend.${mechanism}.weight`]: SHARES },
  }),
  base: 'time decay',
});

/** What is measured: each adds one mechanism to words, to vectors or to time decay. Its numbers are tuned on dev conversations. */
export const MECHANISMS: readonly Mechanism[] = [
  addMechanism('time decay', { then: [decay(24)], tune: { 'decay.halfLifeHours': [6, 24, 96] } }),
  addMechanism('trajectory', {
    then: [blend({ trajectory: { dimensions: 5 } })],
    tune: { 'blend.trajectory.weight': SHARES },
  }),
  attend('RCP, ring', 'rcp'),
  attend('RCP, line', 'rcp', { topology: 'line' }),
  attend('IRCP, directed', 'ircp', { mode: 'directed' }),
  attend('TPO', 'tpo'),
  attend('unified', 'unified', { mode: 'directed' }),
  propagateBy('published'),
  propagateBy('framework'),
  walk('replies'),
  walk('names'),
  addToDecay('trajectory', 'trajectory'),
  addToDecay('RCP, ring', 'rcp'),
  addToDecay('TPO', 'tpo'),
];

/** The arms of a run by their names. */
export function buildPlantedArms(turns: number): Readonly<Record<string, PlantedArm>> {
  const all = searchAll(turns);
  return {
    bm25: [all, fuse({ only: 'bm25' })],
    cosine: [all, fuse({ only: 'flat' })],
    ...Object.fromEntries(MECHANISMS.map(({ name, build }) => [name, build(turns)])),
  };
}
