import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { loadDataset } from '../../data/registry.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { retrieve } from '../../rank/retrieval/retriever.ts';
import { listArmStages } from '../../rank/retrieval/written-steps.ts';
import { attentionSignal } from '../../rank/signals/attention.ts';
import type { AttentionOptions } from '../../rank/signals/signal-options.ts';
import { KEEPS_NOTHING } from '../../rank/signals/stage.ts';
import { computeQueryReach, listTurnsWithin } from '../../rank/signals/subcorpus.ts';
import { turnComponents } from '../../rank/signals/trajectory-score.ts';
import type { Plain } from '../composition/config-file.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { splitDev } from './rankings.ts';
import {
  createTableGraphs,
  createTuningGraphs,
  limitReach,
  listTextOwners,
  openWorkspace,
  SHARED_ENCODING,
  selectEvaluatedQueries,
  splitTuningQueries,
} from './workspaces.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-workspaces-'));
afterAll(() => rmSync(folder, { recursive: true }));
let dataset: Dataset;
let config: ExperimentConfig;
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(folder);
  config = resolveConfig(buildSampleConfig(folder) as Plain, 'sample');
  dataset = await loadDataset(config.dataset, { cacheFolder: null });
});
const changeEvaluation = (evaluation: Partial<ExperimentConfig['evaluation']>, seed = 3): ExperimentConfig => ({
  ...config,
  seed,
  evaluation: { ...config.evaluation, ...evaluation },
});

describe('the queries of the table', () => {
  const listEvaluatedIds = (evaluation: Partial<ExperimentConfig['evaluation']>, seed?: number) =>
    selectEvaluatedQueries(dataset, changeEvaluation(evaluation, seed)).map(({ id }) => id);
  const listSplitQueries = (...splits: string[]) =>
    dataset.queries.filter(({ split }) => splits.includes(split)).map(({ id }) => id);

  test('are those of the split, in time order', () => {
    expect(listEvaluatedIds({})).toEqual(listSplitQueries('test'));
    expect(listEvaluatedIds({ split: 'dev' })).toEqual(listSplitQueries('dev'));
    expect(listEvaluatedIds({ split: 'all' })).toEqual(listSplitQueries('dev', 'test'));
    expect(listSplitQueries('dev').length * listSplitQueries('test').length).toBeGreaterThan(0);
  });

  test('are some of each split where there is a limit, of conversations drawn by the seed', () => {
    const [dev, test] = (['dev', 'test'] as const).map((split) => listEvaluatedIds({ split, limitQueries: 5 })) as [
      string[],
      string[],
    ];
    expect([dev.length, test.length]).toEqual([5, 5]);
    for (const [some, all] of [[dev, listSplitQueries('dev')] as const, [test, listSplitQueries('test')] as const])
      expect(some).toEqual(all.filter((id) => some.includes(id)));
    expect(listEvaluatedIds({ split: 'all', limitQueries: 5 })).toEqual(
      listSplitQueries('dev', 'test').filter((id) => [...dev, ...test].includes(id)),
    );
    expect(new Set([3, 4, 5].map((seed) => listEvaluatedIds({ limitQueries: 5 }, seed).join())).size).toBeGreaterThan(
      1,
    );
    const limitTuning = (limitQueries: number | null) =>
      splitTuningQueries(dataset, changeEvaluation({ limitQueries })).tuning;
    expect(limitTuning(5)).toHaveLength(5);
    expect(limitTuning(null)).toEqual(splitDev(dataset, config.tuning.holdout).tuning);
  });

  test('are all those of a share of the conversations, drawn by the seed', () => {
    const drawn = listEvaluatedIds({ share: 0.5 });
    const clusterOf = new Map(dataset.queries.map(({ id, cluster }) => [id, cluster]));
    const collectClusters = (some: readonly string[]) => new Set(some.map((id) => clusterOf.get(id)));
    expect(collectClusters(drawn).size).toBe(Math.ceil(collectClusters(listSplitQueries('test')).size / 2));
    expect(drawn).toEqual(listSplitQueries('test').filter((id) => collectClusters(drawn).has(clusterOf.get(id))));
    expect(new Set([3, 4, 5, 6].map((seed) => listEvaluatedIds({ share: 0.5 }, seed).join())).size).toBeGreaterThan(1);
  });

  test('are an error where there is none', () => {
    const none = { ...dataset, queries: dataset.queries.filter(({ split }) => split === 'dev') };
    expect(() => selectEvaluatedQueries(none, config)).toThrow(
      /^dataset \S+ has no query in split test, fewer than 2 \(dev holds \d+\); /,
    );
  });
});

describe('an encoder learns', () => {
  /** The keys of all that the propagated arm needs, which embeds, once the turns of a conversation say something else. */
  function keys(graphOf: typeof createTableGraphs, changed: string | null): string[] {
    const turns = dataset.corpus.turns.map((turn) =>
      turn.conversationId === changed ? { ...turn, text: 'soup soup kernel garlic soup kernel' } : turn,
    );
    const graphs = graphOf({ dataset: { ...dataset, corpus: new Corpus(turns) }, config, code: 'c' });
    const graph = graphs.get(SHARED_ENCODING);
    return listArmStages(graph, config.arms[4]!).map(({ key }) => key);
  }
  const listDevConversations = () => {
    const { fit } = splitDev(dataset, config.tuning.holdout);
    const all = dataset.corpus.conversations.map(({ id }) => id);
    return {
      fitted: all.find((id) => fit.has(id)) as string,
      heldOut: all.find((id) => dataset.devConversations.has(id) && !fit.has(id)) as string,
      test: all.find((id) => !dataset.devConversations.has(id)) as string,
    };
  };

  test('for the table from all of dev, and nothing from test', () => {
    const { fitted, heldOut, test: unseen } = listDevConversations();
    const before = keys(createTableGraphs, null);
    expect(keys(createTableGraphs, fitted)).not.toEqual(before);
    expect(keys(createTableGraphs, heldOut)).not.toEqual(before);
    expect(keys(createTableGraphs, unseen)).toEqual(before);
  });

  test('for tuning from what is not tuned on', () => {
    const { fitted, heldOut, test: unseen } = listDevConversations();
    const before = keys(createTuningGraphs, null);
    expect(keys(createTuningGraphs, fitted)).not.toEqual(before);
    expect(keys(createTuningGraphs, heldOut)).toEqual(before);
    expect(keys(createTuningGraphs, unseen)).toEqual(before);
  });

  test('in a workspace from its inputs, and embeds the turns first, then the queries', async () => {
    const source = { dataset, config, code: 'c', cacheFolder: join(folder, 'cache'), store: KEEPS_NOTHING };
    const [arm] = config.arms.slice(4) as [(typeof config.arms)[number]];
    const { fit, tuning } = splitDev(dataset, config.tuning.holdout);
    const workspace = await openWorkspace(source, tuning, fit);
    try {
      expect(listArmStages(workspace.plan, arm)).toEqual(listArmStages(createTuningGraphs(source).get(arm), arm));
      expect(workspace.turnVectors).toHaveLength(dataset.corpus.size * workspace.dimension);
      expect(workspace.dimension).toBe(13);
    } finally {
      workspace.dispose();
    }
  });
});

describe('where queries are limited', () => {
  const limitToFive = () => changeEvaluation({ split: 'dev', limitQueries: 5 });
  const selectEarly = () => selectEvaluatedQueries(dataset, limitToFive());

  test('turns that they can look back to are embedded, and no others', async () => {
    const source = { dataset, config, code: 'c', cacheFolder: join(folder, 'limited'), store: KEEPS_NOTHING };
    const reach = limitReach(dataset, limitToFive(), selectEarly());
    expect(limitReach(dataset, config, selectEarly())).toEqual({});
    const embedded: number[] = [];
    const recordWorkspaceStages: StartProgress = (stage, total) => {
      if (stage === 'embeddings of lsa') embedded.push(total);
      return { update() {}, finish() {} };
    };
    const some = await openWorkspace(
      { ...source, ...reach, progress: recordWorkspaceStages },
      selectEarly(),
      dataset.devConversations,
    );
    const all = await openWorkspace(source, selectEarly(), dataset.devConversations);
    try {
      const within = listTurnsWithin(dataset.corpus, computeQueryReach(dataset.corpus, selectEarly()));
      expect(within.size).toBeLessThan(dataset.corpus.size);
      const texts = [...dataset.corpus.turns.filter((_, position) => within.has(position)), ...selectEarly()];
      expect(embedded).toEqual([new Set(texts.map(({ text }) => text)).size]);
      for (let position = 0; position < dataset.corpus.size; position++) {
        const [got, known] = [some, all].map(({ turnVectors }) => viewRow(turnVectors, 13, position));
        expect(got).toEqual(within.has(position) ? known : new Float32Array(13));
      }
      for (const arm of config.arms) {
        const [got, known] = [await retrieve(some, arm), await retrieve(all, arm)];
        expect(got.pool.positions).toEqual(known.pool.positions);
        for (const [i, score] of got.scores.entries()) expect(score).toBeCloseTo(known.scores[i] as number, 6);
      }
    } finally {
      some.dispose();
      all.dispose();
    }
  });

  test('what is made of the vectors has keys of its own', () => {
    const plan = createTableGraphs({ dataset, config: limitToFive(), code: 'c' }).get(SHARED_ENCODING);
    const { blend } = config.arms[3] as unknown as { readonly blend: { readonly unified: AttentionOptions } };
    const attention: AttentionOptions = { ...blend.unified, mechanism: 'unified' };
    const whole = createTableGraphs({ dataset, config: changeEvaluation({ split: 'dev' }), code: 'c' }).get(
      SHARED_ENCODING,
    );
    const use = attentionSignal({ attention, trajectory: null });
    const pool = { name: 'pool', key: 'k', inputs: [], isKept: false };
    expect(plan.stage(use, pool).key).not.toBe(whole.stage(use, pool).key);
    expect(plan.stage(turnComponents(null)).key).toBe(whole.stage(turnComponents(null)).key);
  });
});

const turn = (id: string, sensitive?: boolean): Turn => ({
  ...{ id, conversationId: 'c', parentId: null, timestamp: 1, author: null, channel: null, text: id },
  ...(sensitive === undefined ? {} : { attributes: { sensitive } }),
});
const query = (id: string, more: Partial<Query> = {}): Query => ({
  ...{ id, text: id, timestamp: 2, anchorTurnId: null, author: null, channel: null, split: 'test', cluster: 'c' },
  ...more,
});

test('a query is sensitive by its attribute or by the turn that it is, also beyond the embedded turns', () => {
  const turns = [turn('a'), turn('b', true), turn('c', false), turn('d', true)];
  const queries = [query('p'), query('q', { turnId: 'd' }), query('r', { attributes: { sensitive: true } })];
  expect(listTextOwners(turns.slice(0, 3), queries, { turns })).toEqual([
    { kind: 'turn', id: 'a' },
    { kind: 'turn', id: 'b', sensitive: true },
    { kind: 'turn', id: 'c' },
    { kind: 'query', id: 'p' },
    { kind: 'query', id: 'q', sensitive: true },
    { kind: 'query', id: 'r', sensitive: true },
  ]);
});
