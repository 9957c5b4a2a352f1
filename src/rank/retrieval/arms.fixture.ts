import type { Candidates } from '../../model/candidates.ts';
import type { StageUse } from '../signals/signal.ts';
import type { ControlKind, ControlOptions } from '../signals/worlds/control-options.ts';
import { listControlsOfArm } from './arm.ts';
import type { PoolParts } from './candidate-sources.ts';
import { type RankOptions, readArm } from './form.ts';
import { type RetrieverOptions, retrieverOptions } from './retriever-options.ts';
import { parseSteps } from './written-steps.ts';

/** An arm of steps in the order of the keys. */
export function parseArm(steps: object, control: ControlOptions | null = null): RankOptions {
  return parseSteps(
    Object.entries(steps).map(([name, options]) => ({ [name]: options })),
    control,
  );
}

const sources = [
  { index: 'bm25', k: 19 },
  { index: 'hnsw', k: 13 },
  { index: 'newest', k: 7 },
];
const flat = [
  { index: 'bm25', k: 19 },
  { index: 'flat', k: 13 },
  { index: 'newest', k: 7 },
];
const hybrid = { candidates: sources, relevance: { signals: ['cosine', 'bm25'] } };
const placed = { ...hybrid, decay: { halfLifeHours: 31 }, trajectory: { dimensions: 5 } };
const buildAttending = (attention: object) => ({ ...placed, attention });
const putUnderControl = (kind: ControlKind, options: object) => ({ ...options, control: { kind } });
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
  newest: { candidates: [{ index: 'newest', k: 23 }], relevance: { signals: ['recency'] } },
  bm25: { candidates: [{ index: 'bm25', k: 23 }], relevance: { signals: ['bm25'] } },
  'bm25, stems': {
    candidates: [{ index: 'bm25', k: 23, variant: 'bm25+', stem: true, dropStopWords: true }],
    relevance: { signals: ['bm25'] },
  },
  'cosine, hnsw': { candidates: [{ index: 'hnsw', k: 23 }], relevance: { signals: ['cosine'] } },
  'cosine, flat': { candidates: [{ index: 'flat', k: 23 }], relevance: { signals: ['cosine'] } },
  'same channel': { ...hybrid, sameChannel: true },
  hybrid,
  'graph alone': { candidates: [{ index: 'graph', k: 23 }], relevance: { signals: ['cosine'] } },
  'hybrid and graph': {
    candidates: [
      ...sources,
      { index: 'graph', k: 11, edges: { similar: 1, cooccurrence: 0.5 }, similarAbove: 0.6, specificity: 'both' },
    ],
    relevance: { signals: ['cosine', 'bm25'], fusion: { method: 'pool-rrf' } },
  },
  'hybrid and graph, weights by name': {
    candidates: [...sources, { index: 'graph', k: 11 }],
    relevance: {
      signals: ['graph', 'bm25', 'cosine'],
      fusion: { method: 'convex', weights: { cosine: 0.5, bm25: 0.3, graph: 0.2 } },
    },
  },
  'hybrid and graph, ranks': {
    candidates: [...sources, { index: 'graph', k: 11 }],
    relevance: { signals: ['bm25', 'cosine', 'graph'], fusion: { method: 'rrf', weights: { graph: 2 } } },
  },
  'hybrid, ranks': { ...hybrid, relevance: { signals: ['bm25', 'cosine', 'recency'], fusion: { method: 'rrf' } } },
  'hybrid, ranks of the pool': {
    ...hybrid,
    relevance: { signals: ['bm25', 'cosine'], fusion: { method: 'pool-rrf' } },
  },
  'hybrid, weights': { ...hybrid, relevance: { signals: ['bm25', 'cosine'], fusion: { method: 'weighted' } } },
  'by strategy': { candidates: sources, relevance: { signals: ['strategy'] } },
  'by strategy, uniform, with words': {
    candidates: sources,
    relevance: {
      signals: ['strategy', 'bm25'],
      options: { strategy: { weights: 'uniform' } },
      fusion: { method: 'weighted', weights: { strategy: 0.7, bm25: 0.3 } },
    },
  },
  'mix of memories': {
    ...hybrid,
    scoring: {
      signals: { groups: ['text', 'memory'] },
      weights: { 'bm25@share': 1, 'memory.time': 0.4, 'memory.entities': 0.2 },
    },
  },
  decay: { ...hybrid, decay: { halfLifeHours: 31 } },
  boosted: {
    ...placed,
    boosts: [
      { attribute: 'outcome', factor: 0.5 },
      { attribute: 'memoryType', factors: { summary: 0.1, procedural: -0.05 } },
    ],
  },
  curated: {
    ...placed,
    curation: { rules: { duplicateAbove: -1, updateAbove: -1, contradictAbove: -1 } },
  },
  'mix of attributes': {
    ...hybrid,
    scoring: {
      signals: { groups: ['text', 'attributes'] },
      weights: { 'bm25@share': 1, outcome: 0.4, importance: 0.2 },
    },
  },
  'trajectory, 3': { ...placed, trajectory: { dimensions: 3, sigma: 0.7 } },
  'trajectory, 5': placed,
  'trajectory, 7, raw': { ...placed, trajectory: { dimensions: 7, complexityScale: 'raw' } },
  rcp: buildAttending({ mechanism: 'rcp' }),
  'rcp, line': buildAttending({ mechanism: 'rcp', topology: 'line', ...forgetful }),
  'ircp, literal': buildAttending({ mechanism: 'ircp', mode: 'literal' }),
  'ircp, directed': buildAttending({ mechanism: 'ircp', mode: 'directed' }),
  'ircp, directed, additive': buildAttending({ mechanism: 'ircp', mode: 'directed', self: 'exclude', ...forgetful }),
  tpo: buildAttending({ mechanism: 'tpo' }),
  unified: buildAttending({ mechanism: 'unified', mode: 'directed' }),
  'attention alone': { ...hybrid, attention: { mechanism: 'unified', mode: 'directed' } },
  'propagation, published': { ...placed, candidates: flat, propagation: { preset: 'published' } },
  'propagation, framework': { ...placed, candidates: flat, propagation: { preset: 'framework' } },
  'unified, permuted order': putUnderControl('permuted-order', buildAttending({ mechanism: 'unified' })),
  'unified, shuffled coordinates': putUnderControl('shuffled-coordinates', buildAttending({ mechanism: 'unified' })),
  'unified, random parents': putUnderControl('random-parents', buildAttending({ mechanism: 'unified' })),
  'unified, rewired graph': putUnderControl('rewired-graph', buildAttending({ mechanism: 'unified' })),
  'trajectory, 7, rewired graph': putUnderControl('rewired-graph', { ...placed, trajectory: { dimensions: 7 } }),
  'ircp, permuted order': putUnderControl(
    'permuted-order',
    buildAttending({ mechanism: 'ircp', self: 'exclude', ...forgetful }),
  ),
  'propagation, permuted order': putUnderControl('permuted-order', {
    ...placed,
    candidates: flat,
    propagation: { preset: 'framework' },
  }),
  mmr: { ...placed, selection: { method: 'mmr', k: 11, lambda: 0.6 } },
  'mix of signals': { ...hybrid, scoring: { weights: MIX } },
  'mix of signals, rewired graph': putUnderControl('rewired-graph', { ...hybrid, scoring: { weights: MIX } }),
  'mix of words': {
    ...hybrid,
    scoring: { signals: { groups: ['text'] }, weights: { 'bm25@share': 1, 'cosine@next': 0.3 } },
  },
  'nearest in the graph': { ...hybrid, selection: { method: 'node-distance', k: 11, weight: 0.5 } },
  'most mentioned': { ...hybrid, selection: { method: 'mentions', k: 11, among: 'turns' } },
  'diversity filter': { ...hybrid, selection: { method: 'diversity-filter', k: 13 } },
} as const;

export type SampleArm = keyof typeof written;

/** An arm of every kind, by name. */
export const SAMPLE_ARMS = Object.fromEntries(
  Object.entries(written).map(([name, options]) => [name, retrieverOptions.parse(options)]),
) as Readonly<Record<SampleArm, RetrieverOptions>>;

/** What a source of an arm finds. */
export function candidatesOfArm(options: RetrieverOptions, source: unknown): StageUse<Candidates> {
  const { sources } = readArm(options).outline;
  const own = sources.find(({ index }) => index === source);
  if (own === undefined) throw new Error('the arm has no such source');
  return own.found;
}

/** What the pool of an arm is made of. */
export const poolOfArm = (options: RetrieverOptions): PoolParts => readArm(options).outline;

export const listControlsFor = (options: RetrieverOptions): ControlKind[] => listControlsOfArm(readArm(options));
