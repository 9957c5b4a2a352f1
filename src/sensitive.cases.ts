import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadDataset } from './data/registry.ts';
import { evaluate } from './eval/metrics/evaluate.ts';
import { buildLadderTable } from './lab/report/tables/table.ts';
import { openRun } from './lab/stored/stored-run.ts';
import { experiment } from './lab/workbench/experiment.ts';
import type { FinishedExperiment } from './lab/workbench/finished-experiment.ts';
import { openMemory } from './memory/engine/open-memory.ts';
import type { Dataset } from './model/dataset.ts';
import type { Conversation } from './model/turns/conversation.ts';
import { showThread } from './model/turns/conversation-display.ts';
import { HostPageRank } from './ops/pagerank/host-pagerank.ts';
import { buildTransitionsFromEdges } from './ops/pagerank/transition-matrix.ts';
import { computeTrajectoryCoordinates } from './ops/trajectory/coordinates.ts';
import { decay, search } from './rank/retrieval/steps/functions.ts';
import { SECRET, writeSecretJsonl } from './sensitive.fixture.ts';

/** Data with sensitive turns and queries, and an experiment on them. */
export interface SecretResults {
  readonly data: Dataset;
  readonly finished: FinishedExperiment;
  /** The folder that the experiment wrote. */
  readonly folder: string;
}

export async function findSecretResults(root: string): Promise<SecretResults> {
  mkdirSync(root);
  writeSecretJsonl(root);
  const data = await loadDataset({ name: 'jsonl', path: root }, { cacheFolder: null });
  const finished = await experiment({
    ...{ data, encoder: { encoder: 'lsa', dimension: 7 }, metrics: ['mrr@10'] },
    evaluation: { samples: 101, split: 'all' },
    arms: { words: [search({ bm25: {} })], fading: { from: 'words', then: [decay(9)] } },
  }).run();
  return { data, finished, folder: await finished.save(join(root, 'runs')) };
}

const chooseConversation = ({ data }: SecretResults) =>
  data.corpus.conversations.find(({ turns }) => turns[0]?.attributes?.sensitive === true) as Conversation;

async function askSecretMemory() {
  const memory = await openMemory({ dimension: 2 });
  const secret = { context: SECRET, metadata: { sensitive: true, title: SECRET } };
  await memory.add({ id: 'r', embedding: Float32Array.of(1, 0), createdAt: 1, outcome: 1, ...secret });
  const response = await memory.query({ embedding: Float32Array.of(1, 0) });
  await memory.close();
  return response;
}

async function rankTurns({ data }: SecretResults) {
  const nodeIds = data.corpus.turns.slice(0, 7).map(({ id }) => id);
  const edges = { sources: Int32Array.of(0, 1), targets: Int32Array.of(1, 2), weights: Float64Array.of(1, 1) };
  const solver = new HostPageRank(buildTransitionsFromEdges(nodeIds, edges), { damping: 0.5 });
  try {
    return await solver.solve([new Map([[nodeIds[0] as string, 1]])]);
  } finally {
    solver.dispose();
  }
}

function locateTurns(results: SecretResults) {
  const conversation = chooseConversation(results);
  const features = new Map(conversation.turns.map(({ id }) => [id, { embedding: [1, 0], components: 1 }]));
  return computeTrajectoryCoordinates(conversation, features, { dimensions: 3 });
}

/** By the file that registers a display: a value made of sensitive data, or why the display has no texts of data. */
export const DISPLAYS: Readonly<Record<string, string | ((results: SecretResults) => unknown)>> = {
  'ops/attention/attention-display.ts': 'numbers alone',
  'ops/conservation/conservation-metrics.ts': 'numbers alone',
  'model/figures/figure.ts': 'the figure of the caller',
  'data/prepared/prepared.ts': ({ data }) => data,
  'eval/metrics/evaluate.ts': ({ data, finished }) =>
    evaluate(finished.run('words'), data.qrels, ['mrr@10'], { relevantGrade: 1, unanswerable: 'apart', holeDepth: 10 }),
  'lab/measure/warning.ts': ({ finished }) => finished.result,
  'lab/stored/stored-run.ts': ({ folder }) => openRun(folder),
  'ops/pagerank/pagerank-solver.ts': rankTurns,
  'rank/learning/learning-display.ts': 'names and numbers of a model',
  'memory/engine/query-response.ts': askSecretMemory,
  'model/turns/conversation-display.ts': (results) => showThread(chooseConversation(results), new Map([['t0-0', 1]])),
  'model/turns/conversation.ts': chooseConversation,
  'model/turns/corpus.ts': ({ data }) => data.corpus,
  'model/run.ts': ({ finished }) => finished.run('fading'),
  'lab/report/tables/table.ts': ({ finished }) => buildLadderTable(finished.result),
  'lab/training/training-run.ts': 'names of arms and learned numbers',
  'ops/trajectory/coordinates.ts': locateTurns,
  'lab/workbench/finished-experiment.ts': ({ finished }) => finished,
};
