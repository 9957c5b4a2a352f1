import { describe, expect, test } from 'vitest';
import { type Plain, setPath } from '../composition/config-file.ts';
import { least } from './config.fixture.ts';
import { resolveConfig } from './config.ts';
import { experimentConfig, metrics, RACE_DEFAULTS } from './config-schema.ts';

/** A config with one value changed. */
function isAccepted(path: string, value: unknown): boolean {
  const config = structuredClone(resolveConfig(least, 'test')) as unknown as Plain;
  setPath(config, path.split('.'), value);
  return experimentConfig.safeParse(config).success;
}

describe('the ends of what is accepted', () => {
  test.each<[path: string, accepted: unknown[], refused: unknown[]]>([
    ['name', ['a', '7-b'], ['', '-a', 'A', 'a_b']],
    ['seed', [-3, 0], [0.5, '1']],
    ['backend', ['auto', 'cpu'], ['gpu']],
    ['tuning.holdout', [0.01, 0.99], [0, 1]],
    ['tuning.metric', ['map', 'p@3'], ['p@0', 'pmr@10', 'stale@10']],
    ['evaluation.split', ['dev', 'test', 'all'], ['train']],
    ['evaluation.limitQueries', [null, 2], [1, 2.5]],
    ['evaluation.share', [0.01, 1], [0, 1.01]],
    ['evaluation.metrics', [['mrr@100'], ['recall@999t'], ['stale@10']], [[], ['mrr@101'], ['R@101']]],
    ['evaluation.samples', [100], [99]],
    ['evaluation.level', [0.01, 0.99], [0, 1]],
    ['evaluation.depth', [10, 1000], [9, 0]],
    ['evaluation.inspect', [1], [0]],
    ['evaluation.attributionDepth', [1], [0]],
    ['evaluation.attributionTokens', [1, 2000], [0, 0.5, null]],
    ['evaluation.tokenBudgets', [[250, 500]], [[500], [500, 500], [500, 250], [0, 5], null]],
    ['evaluation.race', [null, {}, { confidence: 0.51, rounds: 2 }], [{ rounds: 1 }, { round: 2 }, true]],
    ['evaluation.race', [{ confidence: 0.999 }], [{ confidence: 0.5 }, { confidence: 1 }]],
    ['evaluation.latency', [null, {}, { queries: 1, warmUp: 1 }], [{ queries: 0 }, { warmUp: 0 }]],
    ['only', [null, ['plain']], [[], ['!']]],
    ['arms', [], [[]]],
    ['arms.0.tune', [{}, { 'decay.halfLifeHours': [1] }], [{ 'decay.halfLifeHours': [] }]],
    ['arms.0.steps', [['search']], [[], ['search', 'fusion'], 'search']],
    ['arms.0.decay', [null, 24, { halfLifeHours: 24 }], [0, { halfLife: 3 }]],
  ])('%s: %j, not %j', (path, accepted, refused) => {
    expect(accepted.filter((value) => !isAccepted(path, value))).toEqual([]);
    expect(refused.filter((value) => isAccepted(path, value))).toEqual([]);
  });
});

test('a control says what it controls', () => {
  const control = { kind: 'random-parents', seed: null };
  const config = resolveConfig(least, 'test');
  const [plain] = config.arms;
  const listSchemaIssues = (arm: object) =>
    experimentConfig
      .safeParse({ ...config, arms: [plain, { ...plain, ...arm, name: 'under control' }] })
      .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
  expect(listSchemaIssues({ control })).toContain('arms.1.control: an arm that extends the one that it controls');
  expect(listSchemaIssues({ control, extends: 'plain' }).filter((issue) => issue.includes('extends'))).toEqual([]);
});

test('a race stops arms by a metric of which more is better', () => {
  const config = resolveConfig(least, 'test');
  const listIssues = (metrics: readonly string[]) =>
    experimentConfig
      .safeParse({ ...config, evaluation: { ...config.evaluation, race: {}, metrics } })
      .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
  expect(listIssues(['stale@10'])).toEqual([
    'evaluation.metrics.0: with race a metric of which more is better, such as mrr@10',
  ]);
  expect(listIssues(['mrr@10', 'stale@10'])).toEqual([]);
});

test('a race without options looks four times, with confidence', () => {
  expect(RACE_DEFAULTS).toEqual({ confidence: 0.99, rounds: 4 });
});

test('metrics may have names of other programs; the config has those used here', () => {
  expect(metrics.parse(['nDCG@10', 'recip_rank', 'R@500t', 'RBP(rel=1,p=0.8)', 'mrr@5'])).toEqual([
    'ndcg@10',
    'mrr',
    'recall@500t',
    'rbp(0.8,rel=1)',
    'mrr@5',
  ]);
  const listFaults = (ids: string[]) => metrics.safeParse(ids).error?.issues.map(({ message }) => message);
  expect(listFaults(['RR@10', 'mrr@10'])).toEqual(['each metric once']);
  expect(listFaults(['ERR@10'])).toEqual([
    expect.stringMatching(/^a metric \(metric has another meaning here: ERR@10/),
  ]);
});
