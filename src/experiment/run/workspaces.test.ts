import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/backend.ts';
import type { StartProgress } from '../../core/progress.ts';
import { rowOf } from '../../core/rows.ts';
import { loadDataset } from '../../datasets/registry.ts';
import { Corpus } from '../../model/corpus.ts';
import type { Dataset } from '../../model/dataset.ts';
import { armStages } from '../../retrieval/arm-signals.ts';
import { queryReach, turnsWithin } from '../../retrieval/query-reach.ts';
import { retrieve } from '../../retrieval/retriever.ts';
import { cosinesAhead } from '../../signals/attention.ts';
import { turnComponents } from '../../signals/frames.ts';
import { KEEPS_NOTHING } from '../../signals/stage.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import type { Plain } from '../config/config-file.ts';
import { splitDev } from './dev-split.ts';
import { sampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { evaluatedQueries, limitedReach, limitedTuning, openWorkspace, tableGraph, tuningGraph } from './workspaces.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-workspaces-'));
afterAll(() => rmSync(folder, { recursive: true }));
let dataset: Dataset;
let config: ExperimentConfig;
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(folder);
  config = resolveConfig(sampleConfig(folder) as Plain, 'sample');
  dataset = await loadDataset(config.dataset, { cacheFolder: null });
});
const evaluating = (evaluation: Partial<ExperimentConfig['evaluation']>, seed = 3): ExperimentConfig => ({
  ...config,
  seed,
  evaluation: { ...config.evaluation, ...evaluation },
});

describe('the queries of the table', () => {
  const ids = (evaluation: Partial<ExperimentConfig['evaluation']>, seed?: number) =>
    evaluatedQueries(dataset, evaluating(evaluation, seed)).map(({ id }) => id);
  const of = (...splits: string[]) => dataset.queries.filter(({ split }) => splits.includes(split)).map(({ id }) => id);

  test('are those of the split, in time order', () => {
    expect(ids({})).toEqual(of('test'));
    expect(ids({ split: 'dev' })).toEqual(of('dev'));
    expect(ids({ split: 'all' })).toEqual(of('dev', 'test'));
    expect(of('dev').length * of('test').length).toBeGreaterThan(0);
  });

  test('are some of each split where there is a limit, of conversations drawn by the seed', () => {
    const [dev, test] = (['dev', 'test'] as const).map((split) => ids({ split, limitQueries: 5 })) as [
      string[],
      string[],
    ];
    expect([dev.length, test.length]).toEqual([5, 5]);
    for (const [some, all] of [[dev, of('dev')] as const, [test, of('test')] as const])
      expect(some).toEqual(all.filter((id) => some.includes(id)));
    expect(ids({ split: 'all', limitQueries: 5 })).toEqual(
      of('dev', 'test').filter((id) => [...dev, ...test].includes(id)),
    );
    expect(new Set([3, 4, 5].map((seed) => ids({ limitQueries: 5 }, seed).join())).size).toBeGreaterThan(1);
    const tuning = (limitQueries: number | null) => limitedTuning(dataset, evaluating({ limitQueries })).tuning;
    expect(tuning(5)).toHaveLength(5);
    expect(tuning(null)).toEqual(splitDev(dataset, config.tuning.holdout).tuning);
  });

  test('are all those of a share of the conversations, drawn by the seed', () => {
    const drawn = ids({ share: 0.5 });
    const clusterOf = new Map(dataset.queries.map(({ id, cluster }) => [id, cluster]));
    const clusters = (some: readonly string[]) => new Set(some.map((id) => clusterOf.get(id)));
    expect(clusters(drawn).size).toBe(Math.ceil(clusters(of('test')).size / 2));
    expect(drawn).toEqual(of('test').filter((id) => clusters(drawn).has(clusterOf.get(id))));
    expect(new Set([3, 4, 5, 6].map((seed) => ids({ share: 0.5 }, seed).join())).size).toBeGreaterThan(1);
  });

  test('are an error where there is none', () => {
    const none = { ...dataset, queries: dataset.queries.filter(({ split }) => split === 'dev') };
    expect(() => evaluatedQueries(none, config)).toThrow(
      /^dataset \S+ has no query in split test, fewer than 2 \(dev holds \d+\); /,
    );
  });
});

describe('an encoder learns', () => {
  /** The keys of all that the propagated arm needs, which embeds, once the turns of a conversation say something else. */
  function keys(graphOf: typeof tableGraph, changed: string | null): string[] {
    const turns = dataset.corpus.turns.map((turn) =>
      turn.conversationId === changed ? { ...turn, text: 'soup soup kernel garlic soup kernel' } : turn,
    );
    const graph = graphOf({ dataset: { ...dataset, corpus: new Corpus(turns) }, config, code: 'c' });
    return armStages(graph, config.arms[4]!).map(({ key }) => key);
  }
  const conversations = () => {
    const { fit } = splitDev(dataset, config.tuning.holdout);
    const all = dataset.corpus.conversations.map(({ id }) => id);
    return {
      fitted: all.find((id) => fit.has(id)) as string,
      heldOut: all.find((id) => dataset.devConversations.has(id) && !fit.has(id)) as string,
      test: all.find((id) => !dataset.devConversations.has(id)) as string,
    };
  };

  test('for the table from all of dev, and nothing from test', () => {
    const { fitted, heldOut, test: unseen } = conversations();
    const before = keys(tableGraph, null);
    expect(keys(tableGraph, fitted)).not.toEqual(before);
    expect(keys(tableGraph, heldOut)).not.toEqual(before);
    expect(keys(tableGraph, unseen)).toEqual(before);
  });

  test('for tuning from what is not tuned on', () => {
    const { fitted, heldOut, test: unseen } = conversations();
    const before = keys(tuningGraph, null);
    expect(keys(tuningGraph, fitted)).not.toEqual(before);
    expect(keys(tuningGraph, heldOut)).toEqual(before);
    expect(keys(tuningGraph, unseen)).toEqual(before);
  });

  test('in a workspace from its inputs, and embeds the turns first, then the queries', async () => {
    const source = { dataset, config, code: 'c', cacheFolder: join(folder, 'cache'), store: KEEPS_NOTHING };
    const [arm] = config.arms.slice(4) as [(typeof config.arms)[number]];
    const { fit, tuning } = splitDev(dataset, config.tuning.holdout);
    const workspace = await openWorkspace(source, tuning, fit);
    try {
      expect(armStages(workspace.plan, arm)).toEqual(armStages(tuningGraph(source), arm));
      expect(workspace.turnVectors).toHaveLength(dataset.corpus.size * workspace.dimension);
      expect(workspace.dimension).toBe(13);
    } finally {
      workspace.dispose();
    }
  });
});

describe('where queries are limited', () => {
  const limited = () => evaluating({ split: 'dev', limitQueries: 5 });
  const early = () => evaluatedQueries(dataset, limited());

  test('turns that they can look back to are embedded, and no others', async () => {
    const source = { dataset, config, code: 'c', cacheFolder: join(folder, 'limited'), store: KEEPS_NOTHING };
    const reach = limitedReach(dataset, limited(), early());
    expect(limitedReach(dataset, config, early())).toEqual({});
    const embedded: number[] = [];
    const progress: StartProgress = (stage, total) => {
      if (stage === 'embeddings of lsa') embedded.push(total);
      return { update() {}, finish() {} };
    };
    const some = await openWorkspace({ ...source, ...reach, progress }, early(), dataset.devConversations);
    const all = await openWorkspace(source, early(), dataset.devConversations);
    try {
      const within = turnsWithin(dataset.corpus, queryReach(dataset.corpus, early()));
      expect(within.size).toBeLessThan(dataset.corpus.size);
      const texts = [...dataset.corpus.turns.filter((_, position) => within.has(position)), ...early()];
      expect(embedded).toEqual([new Set(texts.map(({ text }) => text)).size]);
      for (let position = 0; position < dataset.corpus.size; position++) {
        const [got, known] = [some, all].map(({ turnVectors }) => rowOf(turnVectors, 13, position));
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
    const plan = tableGraph({ dataset, config: limited(), code: 'c' });
    const arm = config.arms[3] as (typeof config.arms)[number];
    const attention = { ...(arm.attention as NonNullable<typeof arm.attention>) };
    const whole = tableGraph({ dataset, config: evaluating({ split: 'dev' }), code: 'c' });
    expect(plan.stage(cosinesAhead(attention)).key).not.toBe(whole.stage(cosinesAhead(attention)).key);
    expect(plan.stage(turnComponents(null)).key).toBe(whole.stage(turnComponents(null)).key);
  });
});
