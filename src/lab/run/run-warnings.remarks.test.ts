import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { encoderOptions } from '../../index/encoders/registry.ts';
import { encodeTokenWeights } from '../../index/encoders/token-weights.ts';
import type { Candidates } from '../../model/candidates.ts';
import type { Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { candidatesFrom } from '../../rank/retrieval/candidate-sources.ts';
import { parseSteps } from '../../rank/retrieval/written-steps.ts';
import { createSampleWorkspace, drawSampleWorld } from '../../rank/signals/corpus.fixture.ts';
import type { StageUse } from '../../rank/signals/signal.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import { least } from '../config/config.fixture.ts';
import { type ArmOptions, resolveConfig } from '../config/config.ts';
import type { Measurement } from '../measure/measurement.ts';
import { groupContentHashes, type QueriedCorpus } from '../measure/passport.ts';
import type { ArmRecord } from './arm-record.ts';
import { collectRemarks, describeTrainingOverlap, listApproximateSources } from './run-warnings.ts';

/** So narrow a search that it misses something. */
const narrow = { k: 13, m: 2, efConstruction: 1, efSearch: 1 };
const buildHybrid = (dense: object) => [{ search: { bm25: { k: 5 }, ...dense } }, { fuse: { only: 'bm25' } }];
const config = resolveConfig(
  {
    ...least,
    arms: {
      plain: [{ search: { bm25: {} } }],
      a: buildHybrid({ hnsw: narrow }),
      b: buildHybrid({ hnsw: { ...narrow, k: 3 } }),
      exact: buildHybrid({ flat: { k: 7 } }),
    },
  },
  'test',
);
const record = (options: ArmOptions): ArmRecord => ({
  name: options.name,
  options,
  tuned: {},
  depth: 1,
  positions: new Int32Array(),
  scores: new Float32Array(),
  componentNames: [],
  components: new Float32Array(),
  inspected: 1,
  losses: new Uint8Array(),
  stages: {},
  seconds: 0,
  armsAtOnce: 1,
  latency: null,
});
const [base, a, b, exact] = config.arms.map(record) as [ArmRecord, ArmRecord, ArmRecord, ArmRecord];
const world = drawSampleWorld(5, 211, 17, 3);
let workspace: Workspace;
beforeAll(async () => {
  await useBackend('wasm');
  workspace = createSampleWorkspace(world);
});
afterAll(() => workspace.dispose());

const buildMeasurement = (unanswerable: readonly Query[] = []): Measurement => ({
  queries: [],
  unanswerable,
  arms: [],
  passports: {},
  strata: [],
});
const runAs = (opened: Workspace) => ({
  queries: opened.queries,
  dataset: { corpus: opened.corpus, qrels: new Map() },
  openArmWorkspace: async () => opened,
});
const collectSaid = (
  records: readonly ArmRecord[],
  unanswerable: readonly Query[] = [],
  failed: readonly string[] = [],
) => {
  const failures = failed.map((name) => ({ name, description: '', code: 'X', message: '' }));
  return collectRemarks(runAs(workspace), config, buildMeasurement(unanswerable), { records, failures });
};

/** The first k turns by the angle, of those strictly before the query that have a direction; in float64. */
function findNearest(query: Query, k: number): Set<string> {
  const own = world.vectorOf.get(query.id) as Float32Array;
  const earlier = world.turns.filter(({ timestamp }) => timestamp < query.timestamp);
  const scored = earlier.flatMap(({ id }) => {
    const other = world.vectorOf.get(id) as Float32Array;
    if (other.every((value) => value === 0)) return [];
    return [{ id, score: own.reduce((sum, value, d) => sum + value * (other[d] as number), 0) }];
  });
  return new Set(
    scored
      .sort((x, y) => y.score - x.score)
      .slice(0, k)
      .map(({ id }) => id),
  );
}

describe('the recall of an approximate index', () => {
  /** The mean share of the nearest k that the arm's index has among its first k. */
  async function recall({ options }: ArmRecord, k: number): Promise<number> {
    const source = listApproximateSources(options)[0]!;
    const { positions, width } = await workspace.get(candidatesFrom(source, null));
    const shares = workspace.queries.flatMap((query, q) => {
      const wanted = findNearest(query, k);
      const row = [...positions.subarray(q * width, q * width + k)].filter((position) => position >= 0);
      const hits = row.filter((position) => wanted.has(workspace.corpus.turns[position]?.id as string));
      return wanted.size === 0 ? [] : [hits.length / wanted.size];
    });
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  }

  test('is that of hnsw and usearch, and of pgvector unless it compares every turn', () => {
    const methods = ['hnsw', 'ivfflat', 'none'].map((method) => [
      `${method} of pgvector`,
      { index: 'pgvector', method },
    ]);
    const options = parseSteps([
      { search: { hnsw: {}, usearch: {}, ...Object.fromEntries(methods), flat: {}, bm25: {} } },
      { fuse: { only: 'flat' } },
    ]);
    const approximate = listApproximateSources(options).map((source) =>
      source.index === 'pgvector' ? source.method : source.index,
    );
    expect(approximate).toEqual(['hnsw', 'usearch', 'hnsw', 'ivfflat']);
  });

  test('is reported once for each that an arm has used, at ten and at its own depth', async () => {
    const [ten, thirteen, three] = [await recall(a, 10), await recall(a, 13), await recall(b, 3)];
    for (const one of [ten, thirteen, three]) expect(one).toBeLessThan(1);
    expect(await collectSaid([base, a, exact, { ...a, name: 'again' }, b])).toEqual([
      `hnsw against the exact index: recall@10 ${ten.toFixed(4)}, recall@13 ${thirteen.toFixed(4)} (17 queries)`,
      `hnsw against the exact index: recall@3 ${three.toFixed(4)} (17 queries)`,
    ]);
  });

  test('names the arm where that has an encoder or a seed of its own', async () => {
    const own = { ...a, options: { ...a.options, name: 'mine', seed: 7 } };
    const [first, second] = await collectSaid([a, own]);
    expect(first).toMatch(/^hnsw against the exact index: /);
    expect(second).toBe(first?.replace('hnsw', 'hnsw of mine'));
  });

  test('is reported as unknown if the exact answer is damaged on disk, and the others are reported', async () => {
    const failing = new Proxy(workspace, {
      get(target, key) {
        if (key !== 'get') return Reflect.get(target, key, target);
        return async (use: StageUse<Candidates>) => {
          const source = use.key(target.plan) as { index: string; k: number };
          if (source.index === 'flat' && source.k === 13)
            throw new ChecksumMismatchError('x.safetensors', 'its checksum differs', 'delete it');
          return target.get(use);
        };
      },
    });
    const remarks = await collectRemarks(runAs(failing), config, buildMeasurement(), {
      records: [a, b],
      failures: [],
    });
    expect(remarks).toEqual([
      'hnsw against the exact index: not measured, CHECKSUM_MISMATCH: damaged file x.safetensors: its checksum differs; delete it',
      `hnsw against the exact index: recall@3 ${(await recall(b, 3)).toFixed(4)} (17 queries)`,
    ]);
  });

  test('is not told where every source is exact', async () => {
    expect(await collectSaid([base, exact])).toEqual([]);
  });
});

test.each([
  [1, 'q'],
  [5, 'q'],
  [6, 'more'],
])('of %i queries without a relevant turn the first five are named', async (count, more) => {
  const left = world.queries.slice(0, count);
  const ids = left.slice(0, 5).map(({ id }) => id);
  const end = more === 'more' ? ', …' : '';
  expect(await collectSaid([base], left)).toEqual([
    `${count} queries without a relevant turn are left out: ${ids.join(', ')}${end}`,
  ]);
});

test('a baseline that failed is reported, another arm that failed is not', async () => {
  expect(await collectSaid([a], [], ['plain'])).toContain('nothing is compared, since the baseline failed: plain');
  expect(await collectSaid([base], [], ['a'])).toEqual([]);
});

describe('weights', () => {
  const buildTurn = (id: string, conversationId: string, text: string) => {
    return { id, conversationId, parentId: null, timestamp: 7, author: null, channel: null, text };
  };
  const buildAskedQueries = (...clusters: string[]) =>
    clusters.map((cluster, i) => ({ ...(world.queries[0] as Query), id: `q${i}`, cluster }));
  const buildMailbox = (...texts: string[]): QueriedCorpus => {
    const ids = texts.map((_, i) => `c${i}`);
    return {
      corpus: new Corpus(texts.map((text, i) => buildTurn(`t${i}`, ids[i]!, text))),
      queries: buildAskedQueries(...ids, 'c0'),
      qrels: new Map(),
    };
  };
  const seen = buildMailbox('bread', 'soup', 'salt');
  const signals = { groups: ['text' as const], encoders: [] };
  const origin = {
    ...{ file: 'w.safetensors', dataHash: 'h', commit: 'c', trainingClusters: ['c0', 'c1', 'c2'] },
    trainingContents: [...groupContentHashes(seen).values()].flat(),
  };
  const buildArm = (name: string, steps: object): ArmOptions =>
    ({ ...base.options, ...steps, name, steps: ['search', ...Object.keys(steps)] }) as ArmOptions;
  const learned = buildArm('learned', { mix: { signals, weights: {}, origin } });
  const byHand = buildArm('by hand', { mix: { signals, weights: {}, origin: null } });
  const arms = [learned, byHand, buildArm('without', {})];

  test('that were trained on what they are measured on are no test, and that is said', () => {
    expect(describeTrainingOverlap(arms, buildMailbox('train', 'soup', 'lamp', 'bread'))).toEqual([
      'weights of learned were trained on 2 of these 4 conversations: no test of them',
    ]);
  });

  test('of users are weights too', () => {
    const score = { strategy: { weights: 'by-question', users: {}, origin } };
    const arm = buildArm('users', { score, fuse: { only: 'strategy' } });
    expect(describeTrainingOverlap([arm], buildMailbox('soup', 'lamp'))).toEqual([
      'weights of users were trained on 1 of these 2 conversations: no test of them',
    ]);
  });

  test('are not taken for trained on other conversations that have the ids of theirs', () => {
    expect(describeTrainingOverlap(arms, buildMailbox('train', 'wolf', 'lamp'))).toEqual([]);
  });

  test('of tokens are weights too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ragpp-token-origin-'));
    const tokenWeights = join(folder, 'tokens.safetensors');
    const { queries, corpus } = workspace;
    const contents = groupContentHashes({ queries, corpus, qrels: new Map() });
    const numbers = { dimension: 2, up: new Float32Array(2), down: new Float32Array(2), gate: new Float32Array(2) };
    const provenance = {
      ...{ settings: {}, dataHash: 'h', seed: 1, commit: 'c', backend: 'wasm', trainingClusters: ['c0'] },
      trainingContents: [...contents.values()][0] as string[],
    };
    writeFileSync(tokenWeights, encodeTokenWeights({ ...numbers, provenance }));
    const embedding = encoderOptions.parse({ encoder: 'bert', model: 'e5-small-v2', tokenWeights });
    const outcomes = { records: [record({ ...base.options, embedding: null })], failures: [] };
    expect(await collectRemarks(runAs(workspace), { ...config, embedding }, buildMeasurement(), outcomes)).toEqual([
      `weights of embedding were trained on 1 of these ${contents.size} conversations: no test of them`,
    ]);
    rmSync(folder, { recursive: true });
  });

  test('of a file without hashes cannot be checked, and that is said', () => {
    const { trainingContents: _, ...old } = origin;
    const arm = buildArm('learned', { mix: { signals, weights: {}, origin: old } });
    expect(describeTrainingOverlap([arm], buildMailbox('train'))).toEqual([
      'weights of learned hold no content hashes, so whether they were trained on these conversations is unknown; train them again: w.safetensors',
    ]);
  });
});
