import { expect, test } from 'vitest';
import { ValidationError } from '../core/errors/errors.ts';
import { fromTurns } from '../data/memory/from-turns.ts';
import { type ArmInput, experiment } from '../lab/workbench/index.ts';
import type { DatasetDeclaration } from '../model/dataset.ts';

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

const WORDS: ArmInput = { name: 'words', candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } };
const extend = (name: string, more: Omit<ArmInput, 'name'>): ArmInput => ({ name, extends: 'words', ...more });

function run(data: typeof DOCUMENTS, ...arms: readonly ArmInput[]) {
  const encoder = { encoder: 'lsa', dimension: 3, minDocumentFrequency: 1, maxDocumentShare: 1 } as const;
  const evaluation = { split: 'all', samples: 100 } as const;
  return experiment({ data, encoder, arms: [WORDS, ...arms], backend: 'cpu', metrics: ['mrr@10'], evaluation }).run();
}

const TIME = { candidates: [{ index: 'bm25' }, { index: 'time' }] } as const;
const NEWEST = { candidates: [{ index: 'bm25' }, { index: 'newest' }] } as const;
const REFUSED: readonly (readonly [ArmInput, string, string])[] = [
  [extend('latest', NEWEST), 'source newest', 'use another source than newest'],
  [extend('dated', TIME), 'source time', 'use another source than time'],
  [
    extend('by strategy', {
      candidates: [{ index: 'bm25' }, { index: 'flat' }],
      relevance: { signals: ['strategy'] },
    }),
    'relevance signal strategy',
    'leave the signal out',
  ],
  [extend('recent', { relevance: { signals: ['recency'] } }), 'relevance signal recency', 'leave the signal out'],
  [extend('fading', { decay: { halfLifeHours: 6 } }), 'decay with half-life 6 hours', 'set decay: null'],
  [extend('placed', { trajectory: { weights: { temporal: 0 } } }), 'trajectory coordinates', 'set trajectory: null'],
  [extend('ring', { attention: { mechanism: 'rcp' } }), 'attention rcp', 'set attention: null'],
  [extend('paths', { attention: { mechanism: 'tpo' } }), 'attention tpo', 'set attention: null'],
  [extend('channel', { sameChannel: true }), 'sameChannel', 'set sameChannel: false'],
  [
    extend('spread', { candidates: [{ index: 'bm25' }, { index: 'flat' }], propagation: { preset: 'published' } }),
    'propagation',
    'set propagation: null',
  ],
  [
    extend('tuned', { tune: { decay: [null, { halfLifeHours: 7 }] } }),
    'decay with half-life 7 hours',
    'set decay: null',
  ],
  [
    extend('memories', { scoring: { signals: { groups: ['text', 'memory'] }, weights: { 'memory.time': 1 } } }),
    'scoring signal memory.time',
    'remove its weight from scoring.weights',
  ],
  ...['thread.size', 'thread.depth', 'rank.age', 'decay.24h', 'channel', 'rank.age@session', 'trajectory.5'].map(
    (signal): [ArmInput, string, string] => [
      extend('mixed', { scoring: { weights: { [signal]: 1, 'bm25@share': 1 } } }),
      `scoring signal ${signal}`,
      'remove its weight from scoring.weights',
    ],
  ),
];

test.each(REFUSED)(
  'on documents an arm that needs times or threads is refused by name: $name',
  async (arm, part, remedy) => {
    const act = run(DOCUMENTS, arm);
    await expect(act).rejects.toThrow(ValidationError);
    await expect(act).rejects.toThrow(
      `dataset ${DOCUMENTS.name} has no times and no threads, and arm ${arm.name} reads ${part}; ${remedy}; or leave the arm out`,
    );
  },
);

test('on documents an arm of texts and vectors runs', async () => {
  const { result } = await run(
    DOCUMENTS,
    extend('dense', { candidates: [{ index: 'flat' }], relevance: { signals: ['cosine'] } }),
    extend('mixed', { scoring: { signals: { groups: ['text', 'form'] }, weights: { 'bm25@share': 1, coverage: 1 } } }),
  );
  expect(result.failures).toEqual([]);
  expect(result.arms.map(({ name }) => name)).toEqual(['words', 'dense', 'mixed']);
});

test('on documents an arm of the concept graph runs: replies are one kind of its edges', async () => {
  const candidates = [{ index: 'bm25' }, { index: 'flat' }, { index: 'graph' }] as const;
  const weights = { 'graph.pagerank': 1, 'graph.distance': 1, 'graph.degree': 1, 'graph.shared-concepts': 1 };
  const { result } = await run(
    DOCUMENTS,
    extend('graph', { candidates, relevance: { signals: ['bm25', 'graph'], fusion: { method: 'rrf' } } }),
    extend('graph alone', { candidates: [{ index: 'bm25' }, { index: 'graph' }], relevance: { signals: ['graph'] } }),
    extend('near', { candidates, selection: { method: 'node-distance' } }),
    extend('mixed', { scoring: { signals: { groups: ['graph'] }, weights } }),
  );
  expect(result.failures).toEqual([]);
  expect(result.arms.map(({ name }) => name)).toEqual(['words', 'graph', 'graph alone', 'near', 'mixed']);
});

test('an arm is refused only for what the data lacks', async () => {
  const latest = extend('latest', NEWEST);
  const shape = extend('shape', { trajectory: { weights: { temporal: 0 } } });
  for (const [data, arm] of [
    [declare({ times: 'order' }), latest],
    [declare({ threads: 'none' }), latest],
    [declare({ times: 'none' }), shape],
    [declare({}), shape],
  ] as const)
    expect((await run(data, arm)).result.arms).toHaveLength(2);
  await expect(run(declare({ times: 'order' }), extend('dated', TIME))).rejects.toThrow(
    'has an order of turns but no times, and arm dated reads source time; use another source than time; or leave',
  );
  await expect(run(declare({ times: 'none' }), latest)).rejects.toThrow('has no times, and arm latest');
  await expect(run(declare({ threads: 'none' }), shape)).rejects.toThrow('has no threads, and arm shape');
});
