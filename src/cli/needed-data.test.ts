import { expect, test } from 'vitest';
import { ValidationError } from '../core/errors/errors.ts';
import { fromTurns } from '../data/memory/from-turns.ts';
import { type ArmInput, experiment } from '../lab/workbench/experiment.ts';
import type { DatasetDeclaration } from '../model/dataset.ts';
import {
  blend,
  decay,
  filter,
  fuse,
  mix,
  propagate,
  rerank,
  score,
  search,
} from '../rank/retrieval/steps/functions.ts';

const TOPICS = ['oak', 'elm', 'ash', 'fir', 'yew', 'box', 'bay'];

/** Documents: one turn a conversation, all of one time, before every question. */
const documents = fromTurns(
  TOPICS.map((topic) => ({
    id: topic,
    conversationId: topic,
    timestamp: 0,
    text: `the ${topic} of the ${topic} wood`,
  })),
  TOPICS.map((topic) => ({ id: `q-${topic}`, timestamp: 1, text: `where is the ${topic}?` })),
  Object.fromEntries(TOPICS.map((topic) => [`q-${topic}`, [topic]])),
);
const declare = (lacking: Pick<DatasetDeclaration, 'times' | 'threads'>) => ({
  ...documents,
  declaration: { ...documents.declaration, ...lacking },
});
const DOCUMENTS = declare({ times: 'none', threads: 'none' });

type Named = readonly [name: string, arm: ArmInput];
const words = search({ bm25: {} });
const both = search({ bm25: {}, flat: {} });

function run(data: typeof DOCUMENTS, ...arms: readonly Named[]) {
  const encoder = { encoder: 'lsa', dimension: 3, minDocumentFrequency: 1, maxDocumentShare: 1 } as const;
  const evaluation = { split: 'all', samples: 100 } as const;
  return experiment({
    ...{ data, encoder, backend: 'cpu', metrics: ['mrr@10'], evaluation },
    arms: { words: [words], ...Object.fromEntries(arms) },
  }).run();
}

const only = fuse({ only: 'bm25' });
const TIME = [search({ bm25: {}, time: {} }), only];
const NEWEST = [search({ bm25: {}, newest: {} }), only];
const unchanged = 'a question has one candidate';
const SHAPE = [words, { ...blend({ trajectory: { weights: { temporal: 0 } } }), unchanged }];
const REFUSED: readonly (readonly [name: string, arm: ArmInput, part: string, remedy: string])[] = [
  ['latest', NEWEST, 'source newest', 'use another source than newest'],
  ['dated', TIME, 'source time', 'use another source than time'],
  [
    'by strategy',
    [both, score({ strategy: {} }), fuse({ only: 'strategy' })],
    'relevance signal strategy',
    'leave the signal out',
  ],
  [
    'recent',
    [search({ newest: {} })],
    'source newest, relevance signal recency',
    'use another source than newest; leave the signal out',
  ],
  ['fading', [words, decay(6)], 'decay with half-life 6 hours', 'leave the step decay out'],
  ['placed', SHAPE, 'trajectory coordinates', 'leave trajectory out of blend'],
  ['ring', [words, blend({ rcp: {} })], 'attention rcp', 'leave rcp out of blend'],
  ['paths', [words, blend({ tpo: {} })], 'attention tpo', 'leave tpo out of blend'],
  ['channel', [words, filter('channel = $query.channel')], 'filter channel = $query.channel', 'leave the filter out'],
  ['spread', [propagate('published'), both, only], 'propagation', 'leave the step propagate out'],
  [
    'tuned',
    { from: 'words', then: [decay(24)], tune: { decay: [null, { halfLifeHours: 7 }] } },
    'decay with half-life 7 hours',
    'leave the step decay out',
  ],
  [
    'memories',
    [words, mix({ signals: { groups: ['text', 'memory'] }, weights: { 'memory.time': 1 } })],
    'scoring signal memory.time',
    'remove its weight from the weights of the mix',
  ],
  ...['thread.size', 'thread.depth', 'rank.age', 'decay.24h', 'channel', 'rank.age@session', 'trajectory.5'].map(
    (signal): [string, ArmInput, string, string] => [
      'mixed',
      [words, mix({ weights: { [signal]: 1, 'bm25@share': 1 } })],
      `scoring signal ${signal}`,
      'remove its weight from the weights of the mix',
    ],
  ),
];

test.each(REFUSED)(
  'on documents an arm that needs times or threads is refused by name: %s',
  async (name, arm, part, remedy) => {
    const act = run(DOCUMENTS, [name, arm]);
    await expect(act).rejects.toThrow(ValidationError);
    await expect(act).rejects.toThrow(
      `dataset ${DOCUMENTS.name} has no times and no threads, and arm ${name} reads ${part}; ${remedy}; or leave the arm out`,
    );
  },
);

test('on documents an arm of texts and vectors runs', async () => {
  const weights = { 'bm25@share': 1, coverage: 1 };
  const { result } = await run(
    DOCUMENTS,
    ['dense', [search({ flat: {} })]],
    ['mixed', [words, mix({ signals: { groups: ['text', 'form'] }, weights })]],
  );
  expect(result.failures).toEqual([]);
  expect(result.arms.map(({ name }) => name)).toEqual(['words', 'dense', 'mixed']);
});

test('on documents an arm of the concept graph runs: replies are one kind of its edges', async () => {
  const all = search({ bm25: {}, flat: {}, graph: {} });
  const weights = { 'graph.pagerank': 1, 'graph.distance': 1, 'graph.degree': 1, 'graph.shared-concepts': 1 };
  const { result } = await run(
    DOCUMENTS,
    ['graph', [all, fuse({ rrf: { bm25: 1, graph: 1 } })]],
    ['graph alone', [search({ bm25: {}, graph: {} }), fuse({ only: 'graph' })]],
    ['near', [all, only, { ...rerank('node-distance'), unchanged }]],
    ['mixed', [words, mix({ signals: { groups: ['graph'] }, weights })]],
  );
  expect(result.failures).toEqual([]);
  expect(result.arms.map(({ name }) => name)).toEqual(['words', 'graph', 'graph alone', 'near', 'mixed']);
});

test('an arm is refused only for what the data lacks', async () => {
  const latest: Named = ['latest', NEWEST];
  const shape: Named = ['shape', SHAPE];
  for (const [data, arm] of [
    [declare({ times: 'order' }), latest],
    [declare({ threads: 'none' }), latest],
    [declare({ times: 'none' }), shape],
    [declare({}), shape],
  ] as const)
    expect((await run(data, arm)).result.arms).toHaveLength(2);
  await expect(run(declare({ times: 'order' }), ['dated', TIME])).rejects.toThrow(
    'has an order of turns but no times, and arm dated reads source time; use another source than time; or leave',
  );
  await expect(run(declare({ times: 'none' }), latest)).rejects.toThrow('has no times, and arm latest');
  await expect(run(declare({ threads: 'none' }), shape)).rejects.toThrow('has no threads, and arm shape');
});
