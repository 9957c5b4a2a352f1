import type { Candidates } from '../../model/candidates.ts';
import type { StageUse } from '../signals/signal.ts';
import type { ControlKind, ControlOptions } from '../signals/worlds/world-parts.ts';
import type { PoolParts } from './candidate-sources.ts';
import { listControlsOfArm, parseSteps, type RankOptions, readArm } from './written-steps.ts';

/** An arm of steps in the order of the keys. */
export function parseArm(steps: object, control: ControlOptions | null = null): RankOptions {
  return parseSteps(
    Object.entries(steps).map(([name, options]) => ({ [name]: options })),
    control,
  );
}

const search = { bm25: { k: 19 }, hnsw: { k: 13 }, newest: { k: 7 } };
const walked = { ...search, graph: { k: 11 } };
const hybrid = { search, fuse: { convex: { hnsw: 0.8, bm25: 'rest' } } };
const decayed = { ...hybrid, decay: 31 };
const placed = { ...decayed, blend: { trajectory: {} } };
const buildAttending = (attention: object) => ({ ...decayed, blend: { trajectory: {}, ...attention } });
const buildPropagating = (preset: string) => ({
  propagate: preset,
  search: { bm25: { k: 19 }, flat: { k: 13 }, newest: { k: 7 } },
  fuse: { convex: { flat: 0.8, bm25: 'rest' } },
  decay: 31,
  blend: { trajectory: {} },
});
const forgetful = { combine: 'additive', temperature: 1, decay: 0.3 };

const MIX = {
  'bm25@share': 0.5,
  'cosine@session-best': 0.7,
  'decay.24h': 0.3,
  'thread.leaf': 0.2,
  'trajectory.5': 1,
  'attention.ircp': 3,
  'attention.tpo': 5,
};

const written = {
  newest: { search: { newest: { k: 23 } } },
  bm25: { search: { words: { index: 'bm25', k: 23 } } },
  'bm25, stems': { search: { bm25: { k: 23, variant: 'bm25+', stem: true, dropStopWords: true } } },
  'cosine, hnsw': { search: { hnsw: { k: 23 } }, fuse: { only: 'hnsw' } },
  'cosine, flat': { search: { flat: { k: 23 } } },
  'same channel': { search, filter: 'channel = $query.channel', fuse: hybrid.fuse },
  hybrid,
  'graph alone': { search: { graph: { k: 23 } }, score: { cosine: {} }, fuse: { only: 'cosine' } },
  'hybrid and graph': {
    search: {
      ...search,
      graph: { k: 11, edges: { similar: 1, cooccurrence: 0.5 }, similarAbove: 0.6, specificity: 'both' },
    },
    fuse: { 'pool-rrf': { hnsw: 1, bm25: 1 } },
  },
  'hybrid and graph, weights by name': {
    search: walked,
    fuse: { convex: { hnsw: 0.5, bm25: 0.3, graph: 'rest' } },
  },
  'hybrid and graph, ranks': { search: walked, fuse: { rrf: { bm25: 1, hnsw: 1, graph: 2, k: 60 } } },
  'hybrid, ranks': { search, fuse: 'rrf' },
  'hybrid, ranks of the pool': { search, fuse: { 'pool-rrf': { bm25: 1, hnsw: 1 } } },
  'hybrid, weights': { search, fuse: { weighted: { hnsw: 0.6, bm25: 0.4 } } },
  'by strategy': { search, score: { strategy: {} }, fuse: { only: 'strategy' } },
  'by strategy, uniform, with words': {
    search,
    score: { strategy: { weights: 'uniform' } },
    fuse: { weighted: { strategy: 0.7, bm25: 0.3 } },
  },
  'mix of memories': {
    search,
    mix: {
      signals: { groups: ['text', 'memory'] },
      weights: { 'bm25@share': 1, 'memory.time': 0.4, 'memory.entities': 0.2 },
    },
  },
  decay: decayed,
  boosted: {
    ...hybrid,
    boost: [
      { attribute: 'outcome', factor: 0.5 },
      { attribute: 'memoryType', factors: { summary: 0.1, procedural: -0.05 } },
    ],
    decay: 31,
    blend: { trajectory: {} },
  },
  curated: {
    ...hybrid,
    curate: { rules: { duplicateAbove: -1, updateAbove: -1, contradictAbove: -1 } },
    decay: 31,
    blend: { trajectory: 0.3 },
  },
  'mix of attributes': {
    search,
    mix: { signals: { groups: ['text', 'attributes'] }, weights: { 'bm25@share': 1, outcome: 0.4, importance: 0.2 } },
  },
  'trajectory, 3': { ...decayed, blend: { trajectory: { dimensions: 3, sigma: 0.7 } } },
  'trajectory, 5': placed,
  'trajectory, 7, raw': { ...decayed, blend: { trajectory: { dimensions: 7, complexityScale: 'raw' } } },
  rcp: buildAttending({ rcp: {} }),
  'rcp, line': buildAttending({ rcp: { topology: 'line', ...forgetful } }),
  'ircp, literal': buildAttending({ ircp: { mode: 'literal' } }),
  'ircp, directed': buildAttending({ ircp: { mode: 'directed' } }),
  'ircp, directed, additive': buildAttending({ ircp: { mode: 'directed', self: 'exclude', ...forgetful } }),
  tpo: buildAttending({ tpo: 0.2 }),
  unified: buildAttending({ unified: { mode: 'directed' } }),
  'rcp before trajectory': {
    ...decayed,
    blend: { rcp: 0.4, trajectory: 0.3, tpo: { coordinates: { dimensions: 3 } } },
  },
  'attention alone': { ...hybrid, blend: { unified: { mode: 'directed' } } },
  'propagation, published': buildPropagating('published'),
  'propagation, framework': buildPropagating('framework'),
  mmr: { ...placed, select: { mmr: { k: 11, lambda: 0.6 } } },
  'mix of signals': { search, mix: { weights: MIX } },
  'mix of words': {
    search,
    mix: { signals: { groups: ['text'] }, weights: { 'bm25@share': 1, 'cosine@next': 0.3 } },
  },
  'nearest in the graph': { ...hybrid, rerank: { 'node-distance': { k: 11, weight: 0.5 } } },
  'most mentioned': { ...hybrid, rerank: { mentions: { k: 11, among: 'turns' } } },
  'diversity filter': { ...hybrid, select: { 'diversity-filter': { k: 13 } } },
} as const;

const controlled = {
  'unified, permuted order': ['permuted-order', buildAttending({ unified: {} })],
  'unified, shuffled coordinates': ['shuffled-coordinates', buildAttending({ unified: {} })],
  'unified, random parents': ['random-parents', buildAttending({ unified: {} })],
  'unified, rewired graph': ['rewired-graph', buildAttending({ unified: {} })],
  'trajectory, 7, rewired graph': ['rewired-graph', { ...decayed, blend: { trajectory: { dimensions: 7 } } }],
  'ircp, permuted order': ['permuted-order', buildAttending({ ircp: { self: 'exclude', ...forgetful } })],
  'propagation, permuted order': ['permuted-order', buildPropagating('framework')],
  'mix of signals, rewired graph': ['rewired-graph', { search, mix: { weights: MIX } }],
} as const satisfies Readonly<Record<string, readonly [ControlKind, object]>>;

export type SampleArm = keyof typeof written | keyof typeof controlled;

/** The steps of each sample arm as they are written. */
export const SAMPLE_STEPS = {
  ...written,
  ...Object.fromEntries(Object.entries(controlled).map(([name, [, steps]]) => [name, steps])),
} as Readonly<Record<SampleArm, object>>;

/** An arm of every kind, by name. */
export const SAMPLE_ARMS = Object.fromEntries([
  ...Object.entries(written).map(([name, steps]) => [name, parseArm(steps)]),
  ...Object.entries(controlled).map(([name, [kind, steps]]) => [name, parseArm(steps, { kind, seed: null })]),
]) as Readonly<Record<SampleArm, RankOptions>>;

/** What a source of an arm finds. @param name of the source; the last one where it is left out. */
export function candidatesOfArm(options: RankOptions, name?: string): StageUse<Candidates> {
  const { sources } = readArm(options).outline;
  const own = name === undefined ? sources.at(-1) : sources.find((source) => source.name === name);
  if (own === undefined) throw new Error('the arm has no such source');
  return own.found;
}

/** What the pool of an arm is made of. */
export const poolOfArm = (options: RankOptions): PoolParts => readArm(options).outline;

export const listControlsFor = (options: RankOptions): ControlKind[] => listControlsOfArm(readArm(options));
