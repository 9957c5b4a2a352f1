import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import dataset from '../../../examples/plugins/dataset.ts';
import encoder from '../../../examples/plugins/encoder.ts';
import fusion from '../../../examples/plugins/fusion.ts';
import metric from '../../../examples/plugins/metric.ts';
import index from '../../../examples/plugins/search-index.ts';
import signal from '../../../examples/plugins/signal.ts';
import step from '../../../examples/plugins/step.ts';
import { ConfigurationError, PluginError, ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { fromTurns } from '../../data/memory/from-turns.ts';
import type { Dataset } from '../../model/dataset.ts';
import { fuse, mix, score, search } from '../../rank/retrieval/steps/functions.ts';
import type { CandidatePool } from '../../rank/signals/stage.ts';
import { openConfig } from '../config/config.ts';
import { uninstallPlugin } from '../plugins/install.ts';
import { definePlugin, type PluginDefinition } from '../plugins/plugin.ts';
import { listInstalledPlugins } from '../plugins/resolved-plugin.ts';
import { runExperiment } from '../run/run.ts';
import { type ArmInput, experiment } from './experiment.ts';
import { assertSignalContract } from './signal-contract.ts';

const CONFIG = fileURLToPath(new URL('../../../examples/plugins/experiment.yaml', import.meta.url));

beforeAll(async () => void (await useBackend('cpu')));
afterEach(() => {
  for (const { name } of listInstalledPlugins()) uninstallPlugin(name);
});

const words = [search({ bm25: {} })];

/** Ten conversations of three turns; turns 1 and 2 answer turn 0. */
function makeData(): Dataset {
  const turns = Array.from({ length: 30 }, (_, i) => ({
    id: `t${i}`,
    conversationId: `c${Math.floor(i / 3)}`,
    timestamp: Date.UTC(2024, 0, 1) + i * 3_600_000,
    text: `remark ${'x'.repeat(1 + (i % 7))} about topic ${Math.floor(i / 3)}`,
  }));
  const queries = Array.from({ length: 10 }, (_, c) => ({
    id: `q${c}`,
    text: `topic ${c}`,
    timestamp: Date.UTC(2024, 0, 1) + (3 * c + 3) * 3_600_000 - 1,
    conversationId: `c${c}`,
    kind: c % 2 === 0 ? 'even' : 'odd',
  }));
  return fromTurns(turns, queries, Object.fromEntries(queries.map(({ id }, c) => [id, [`t${3 * c}`]])));
}

/** A plugin with one member whose results are of no use. */
function spoil(name: string, members: Omit<PluginDefinition, 'name' | 'version'>): PluginDefinition {
  return definePlugin({ name, version: 3, ...members });
}

describe('the plugins of the examples', () => {
  test('make up an experiment, each kind by a file of its own, from a config and as objects alike', async () => {
    const config = await openConfig(CONFIG);
    const context = { backend: 'cpu', cacheFolder: null, command: 'test' } as const;
    const fromFile = await runExperiment(config, context);
    expect(fromFile.result.failures).toEqual([]);
    expect(fromFile.result.environment.plugins).toEqual(config.plugins);
    expect(config.plugins?.map(({ name, version, module }) => [name, version, module])).toEqual([
      ['counted-dataset', '1', 'examples/plugins/dataset.ts'],
      ['letter-encoder', '1', 'examples/plugins/encoder.ts'],
      ['alternate-index', '1', 'examples/plugins/search-index.ts'],
      ['length-signal', '1', 'examples/plugins/signal.ts'],
      ['best-fusion', '1', 'examples/plugins/fusion.ts'],
      ['floor-steps', '1', 'examples/plugins/step.ts'],
      ['graded-metric', '1', 'examples/plugins/metric.ts'],
    ]);
    const finished = await experiment({
      plugins: [dataset, encoder, index, signal, fusion, step, metric],
      data: { name: 'counted', conversations: 24 },
      encoder: { encoder: 'letters' },
      metrics: ['mrr@10', 'mean-grade@3'],
      evaluation: { samples: 499 },
      arms: {
        words,
        'best of two': [
          search({ bm25: {}, alternate: { k: 20 } }),
          score({ 'form.similar-length': { scale: 20 } }),
          fuse({ 'best-of': { bm25: 1, 'form.similar-length': 1 } }),
        ],
        letters: [search({ flat: {} })],
        'letters, fading': {
          from: 'letters',
          then: [{ 'recency-floor': { halfLifeHours: 48 } }],
          tune: { 'recency-floor.floor': [0.1, 0.5] },
        },
        'each talk once': {
          from: 'letters, fading',
          then: [{ 'each-conversation': {} }],
          set: { 'recency-floor.floor': 0.3 },
        },
      },
    }).run();
    for (const name of ['words', 'best of two', 'letters', 'letters, fading', 'each talk once'])
      expect(finished.run(name)).toEqual(fromFile.runs.get(name));
    expect(finished.result.arms.map(({ metrics }) => metrics)).toEqual(
      fromFile.result.arms.map(({ metrics }) => metrics),
    );
    expect(finished.result.passports['mean-grade@3']?.definition).toContain('by plugin graded-metric 1');
  });

  test('keep the contract of signals and steps', async () => {
    await assertSignalContract(step, 'recency-floor', { data: makeData(), options: { floor: 0.5 } });
    await assertSignalContract(step, 'each-conversation', { data: makeData() });
    await assertSignalContract(signal, 'form.similar-length', { data: makeData(), options: { scale: 7 } });
    const unknown = assertSignalContract(signal, 'form.length', { data: makeData() });
    await expect(unknown).rejects.toThrow(
      'plugin length-signal has no signal or step: form.length; use one of form.similar-length',
    );
  });
});

describe('the contract of signals and steps refuses', () => {
  let calls = 0;
  const cases: [string, PluginDefinition, RegExp][] = [
    [
      'a signal that looks ahead',
      spoil('ahead', { signals: [{ name: 'ahead', summary: 's', score: ({ corpus }) => corpus.size }] }),
      /signal ahead changes with turns after the query/,
    ],
    [
      'a signal that is not the same again',
      spoil('fickle', { signals: [{ name: 'fickle', summary: 's', score: () => calls++ }] }),
      /signal fickle differs when it is computed again/,
    ],
    [
      'a signal that reads what only reports read',
      spoil('leaky', { signals: [{ name: 'leaky', summary: 's', score: ({ query }) => query.kind?.length ?? 0 }] }),
      /signal leaky reads turnId, kind, cluster or split/,
    ],
    [
      'a step that looks ahead',
      spoil('ahead', { steps: [{ name: 'ahead', summary: 's', score: ({ corpus }) => corpus.size }] }),
      /step ahead changes with turns after the query/,
    ],
    [
      'a step that is not the same again',
      spoil('fickle', {
        steps: [{ name: 'fickle', summary: 's', keep: (ranked) => ranked.map(() => calls++ % 3 > 0) }],
      }),
      /step fickle differs when it is computed again/,
    ],
    [
      'a step that reads what only reports read',
      spoil('leaky', {
        steps: [{ name: 'leaky', summary: 's', keep: (ranked) => ranked.map(({ query }) => query.kind === 'even') }],
      }),
      /step leaky reads turnId, kind, cluster or split/,
    ],
  ];
  test.each(cases)('%s', async (_, plugin, message) => {
    const act = assertSignalContract(plugin, plugin.name, { data: makeData() });
    await expect(act).rejects.toThrow(message);
    await expect(act).rejects.toThrow(PluginError);
  });
});

/** Runs an arm that uses a spoilt member, and gives back the message of the failure. */
async function failWith(plugin: PluginDefinition, change: object): Promise<string> {
  const input = {
    data: makeData(),
    encoder: { encoder: 'lsa', minDocumentFrequency: 1, maxDocumentShare: 1 },
    arms: { words },
    plugins: [plugin],
  };
  const run = experiment({ ...input, ...change } as unknown as Parameters<typeof experiment>[0]).run();
  return run.then(
    (finished) => finished.result.failures.map(({ message }) => message).join(),
    (error: Error) => error.message,
  );
}

const scoreBy = (name: string) => [...words, score({ [name]: {} }), fuse({ only: name })];
const withSignal = (name: string) => ({ arms: { words: scoreBy(name) } });
const throwing = () => {
  throw new Error('out of luck');
};

describe('a member that is of no use gives an error that names it', () => {
  const searchWith = (found: (places: number) => unknown) => ({
    search: ({ cutoffs }: { cutoffs: Int32Array }, k: number) => found(cutoffs.length * k),
  });
  const indexOf = (name: string, found: (places: number) => unknown) =>
    spoil(name, { indexes: [{ name, description: 'd', create: () => searchWith(found) as never }] });
  const useIndex = (name: string) => ({
    arms: { words: [search({ bm25: {}, [name]: { k: 3 } }), fuse({ only: 'bm25' })] },
  });
  const encoderOf = (name: string, encode: (texts: readonly string[]) => Float32Array) =>
    spoil(name, { encoders: [{ name, description: 'd', create: () => ({ dimension: 3, encode }) }] });
  const twoSignals = (method: string) => ({
    arms: { words: [search({ bm25: {}, newest: {} }), fuse(method)] },
  });
  const cases: [string, PluginDefinition, object, RegExp][] = [
    [
      'a signal that throws',
      spoil('s1', { signals: [{ name: 's1', summary: 's', score: throwing }] }),
      withSignal('s1'),
      /plugin s1 3: signal s1 threw: out of luck/,
    ],
    [
      'a signal that returns NaN',
      spoil('s2', { signals: [{ name: 's2', summary: 's', score: () => Number.NaN }] }),
      withSignal('s2'),
      /plugin s2 3: signal s2 returned NaN for query q\d, turn t\d+/,
    ],
    [
      'a signal that returns a text',
      spoil('s3', { signals: [{ name: 's3', summary: 's', score: () => 'x' as never }] }),
      withSignal('s3'),
      /signal s3 returned x for query/,
    ],
    [
      'a column of another length',
      spoil('s4', { signals: [{ name: 's4', summary: 's', compute: () => new Float32Array(2) }] }),
      withSignal('s4'),
      /signal s4 returned 2 numbers: expected/,
    ],
    [
      'a negative score',
      spoil('s5', { signals: [{ name: 's5', summary: 's', score: () => -1 }] }),
      withSignal('s5'),
      /signal s5 returned a negative score/,
    ],
    [
      'a metric that returns NaN',
      spoil('m1', { metrics: [{ name: 'm1', description: 'd', compute: () => Number.NaN }] }),
      { metrics: ['m1@3'] },
      /metric m1 returned NaN/,
    ],
    [
      'an encoder with rows of another length',
      encoderOf('e1', (texts) => new Float32Array(texts.length)),
      { encoder: { encoder: 'e1' }, ...withSignal('cosine') },
      /encoder e1 returned \d+ numbers: expected/,
    ],
    [
      'an encoder with long vectors',
      encoderOf('e2', (texts) => new Float32Array(texts.length * 3).fill(1)),
      { encoder: { encoder: 'e2' }, ...withSignal('cosine') },
      /encoder e2 returned a vector of length 1\.73/,
    ],
    [
      'an index with places missing',
      indexOf('i1', () => ({ positions: new Int32Array(1), scores: new Float32Array(1), width: 3 })),
      useIndex('i1'),
      /index i1 returned 1 positions: expected/,
    ],
    [
      'an index that finds later turns',
      indexOf('i2', (n) => ({ positions: new Int32Array(n).fill(29), scores: new Float32Array(n), width: 3 })),
      useIndex('i2'),
      /index i2 threw: candidate of query \d+ is not strictly earlier/,
    ],
    [
      'an index that finds a turn twice',
      indexOf('i3', (n) => ({ positions: new Int32Array(n), scores: new Float32Array(n), width: 3 })),
      useIndex('i3'),
      /index i3 returned a turn twice/,
    ],
    [
      'a dataset that is none',
      spoil('d1', { datasets: [{ name: 'd1', description: 'd', load: () => ({}) as never }] }),
      { data: { name: 'd1' } },
      /dataset d1 returned no dataset: Object/,
    ],
    [
      'a fusion of another length',
      spoil('f1', { fusions: [{ name: 'f1', description: 'd', fuse: () => new Float64Array(1) }] }),
      twoSignals('f1'),
      /fusion f1 returned 1 numbers: expected/,
    ],
  ];
  test.each(cases)('%s', async (_, plugin, change, message) => {
    expect(await failWith(plugin, change)).toMatch(message);
  });
});

test('an abort ends an arm before its next part', async () => {
  const controller = new AbortController();
  const computed: string[] = [];
  const compute =
    (name: string) =>
    ({ pool }: { pool: CandidatePool }) => {
      computed.push(name);
      controller.abort(new Error('enough'));
      return new Float32Array(pool.positions.length);
    };
  const parts = definePlugin({
    name: 'parts',
    version: 1,
    signals: [
      { name: 'part.one', summary: 's', compute: compute('one') },
      { name: 'part.two', summary: 's', compute: compute('two') },
    ],
  });
  const parted = [
    search({ bm25: {} }),
    score({ 'part.one': {}, 'part.two': {} }),
    fuse({ 'pool-rrf': { 'part.one': 1, 'part.two': 1 } }),
  ];
  const run = experiment({
    data: makeData(),
    encoder: { encoder: 'lsa', minDocumentFrequency: 1, maxDocumentShare: 1 },
    plugins: [parts],
    arms: { words: parted },
  }).run({ signal: controller.signal });
  await expect(run).rejects.toThrow('enough');
  expect(computed).toEqual(['one']);
});

describe('a signal of a plugin in a mix of signals', () => {
  const mixed = (weight: number, options: object = { scale: 7 }) => [
    ...words,
    mix({
      signals: { groups: ['text'], plugins: { 'form.similar-length': { ...options } } },
      weights: { bm25: 1, 'form.similar-length': weight },
    }),
  ];
  const input = {
    data: makeData(),
    encoder: { encoder: 'lsa', minDocumentFrequency: 1, maxDocumentShare: 1 },
    plugins: [signal],
  } as const;

  test('adds its weighted score to that of the others', async () => {
    const { corpus, queries } = input.data;
    const finished = await experiment({ ...input, arms: { 'mix 0': mixed(0), 'mix 5': mixed(5) } }).run();
    const [without, withIt] = [finished.run('mix 0'), finished.run('mix 5')];
    const pairs = [...without].flatMap(([id, ranking]) => ranking.map((scored) => ({ query: id, ...scored })));
    expect(pairs.length).toBeGreaterThan(20);
    for (const { query, id, score } of pairs) {
      const asked = queries.find((one) => one.id === query)?.text.length ?? 0;
      const similar = Math.exp(-Math.abs(asked - corpus.getTurn(id).text.length) / 7);
      const other = withIt.get(query)?.find((one) => one.id === id)?.score;
      expect(other).toBeCloseTo(score + 5 * similar, 4);
    }
    const [, arm] = finished.result.arms;
    expect(arm?.contributionNames).toContain('form');
  });

  test('is an error if no plugin of the experiment has it, or an option is unknown', () => {
    const { plugins: _, ...bare } = input;
    expect(() => experiment({ ...bare, arms: { mixed: mixed(5) } })).toThrow(
      /mix\.signals\.plugins\.form\.similar-length: expected a signal that a plugin of the config defines/,
    );
    expect(() => experiment({ ...input, arms: { mixed: mixed(5, { scal: 7 }) } })).toThrow(
      /form\.similar-length\.scal/,
    );
    experiment({ ...input, arms: { mixed: mixed(5) } });
    expect(() => experiment({ ...bare, arms: { mixed: mixed(5) } })).toThrow(
      /expected plugin length-signal in plugins/,
    );
  });
});

test.each<[string, (data: Dataset) => object, RegExp]>([
  [
    'a query without text',
    ({ queries }) => ({ queries: queries.map(({ text: _, ...rest }) => rest) }),
    /queries\[0\]\.text: expected string/,
  ],
  [
    'a time that is a text',
    ({ queries }) => ({ queries: queries.map((query) => ({ ...query, timestamp: 'x' })) }),
    /queries\[0\]\.timestamp/,
  ],
  ['judgements that are lists', () => ({ qrels: new Map([['q1', ['t3']]]) }), /qrels/],
  [
    'a judged turn that is unknown',
    () => ({ qrels: new Map([['q1', new Map([['no', 1]])]]) }),
    /qrels: expected turns of the corpus, got no for q1/,
  ],
  [
    'an importance beyond 1',
    ({ corpus }) => ({ corpus: { turns: corpus.turns.map((turn) => ({ ...turn, attributes: { importance: 2 } })) } }),
    /corpus\.turns\[0\]\.attributes\.importance: expected number <= 1, got 2/,
  ],
  [
    'an attribute of a query without a value',
    ({ queries }) => ({ queries: queries.map((query) => ({ ...query, attributes: { phase: null } })) }),
    /queries\[0\]\.attributes\.phase: expected a text, a finite number, if whole within 2\^53 - 1, a boolean or a list of texts, got null/,
  ],
  ['no relevant grade', () => ({ relevantGrade: undefined }), /relevantGrade: expected number/],
  [
    'two queries of one id',
    ({ queries }) => ({ queries: [...queries, ...queries] }),
    /queries: expected ids that differ/,
  ],
])('a dataset with %s is an error that names the plugin', async (_, spoilData, message) => {
  const load = () => ({ ...makeData(), ...spoilData(makeData()) }) as never;
  const error = await failWith(spoil('d2', { datasets: [{ name: 'd2', description: 'd', load }] }), {
    data: { name: 'd2' },
  });
  expect(error).toMatch(/plugin d2 3: dataset d2 returned a dataset with a fault: /);
  expect(error).toMatch(message);
});

describe('plugins', () => {
  const tiny = (version: number) =>
    definePlugin({ name: 'tiny', version, metrics: [{ name: 'tiny', description: 'd', compute: () => 0 }] });
  const input = () => ({ data: makeData(), arms: { words } });

  test('enter the hash of a run by version and code', () => {
    const read = (plugin: PluginDefinition) =>
      experiment({ ...input(), plugins: [plugin], metrics: ['tiny'] }).config.plugins?.[0];
    const [one, two] = [read(tiny(1)), read(tiny(2))];
    expect(one).toMatchObject({ name: 'tiny', version: '1', module: null });
    expect(two).toMatchObject({ version: '2', hash: one?.hash });
    const changed = definePlugin({
      name: 'tiny',
      version: 2,
      metrics: [{ name: 'tiny', description: 'd', compute: () => 1 }],
    });
    expect(read(changed)?.hash).not.toBe(one?.hash);
  });

  test('are refused where a name is taken, and leave what there was', () => {
    expect(() =>
      experiment({
        ...input(),
        plugins: [
          definePlugin({ name: 'a', version: 1, metrics: [{ name: 'mrr', description: 'd', compute: () => 0 }] }),
        ],
      }),
    ).toThrow(/plugin a 1: name is taken among metrics: mrr/);
    experiment({ ...input(), plugins: [tiny(1)], metrics: ['tiny'] });
    const other = definePlugin({
      name: 'other',
      version: 1,
      metrics: [{ name: 'tiny', description: 'd', compute: () => 0 }],
    });
    expect(() => experiment({ ...input(), plugins: [other] })).toThrow(ValidationError);
    expect(listInstalledPlugins().map(({ name }) => name)).toEqual(['tiny']);
  });

  test('must be named by the config that uses them', () => {
    experiment({ ...input(), plugins: [tiny(1)], metrics: ['tiny'] });
    expect(() => experiment({ ...input(), metrics: ['tiny@3'] })).toThrow(
      /metrics\[0\]: expected plugin tiny in plugins/,
    );
  });

  test('must be named for the encoder of an arm too', () => {
    const arms = { words, letters: { from: 'words', embedding: { encoder: 'letters' } } } as const;
    experiment({ ...input(), plugins: [encoder], arms });
    expect(() => experiment({ ...input(), arms } as unknown as Parameters<typeof experiment>[0])).toThrow(
      /arms\.letters\.embedding\.encoder: expected plugin letter-encoder in plugins/,
    );
  });

  test('have the null controls of what their signals read', () => {
    const read = (reads?: readonly ['order']) =>
      spoil('read', {
        signals: [{ name: 'read', summary: 's', compute: () => new Float32Array(0), ...(reads && { reads }) }],
      });
    const arms = { words, read: scoreBy('read') };
    const list = (plugin: PluginDefinition) =>
      experiment({ ...input(), plugins: [plugin], arms, controls: true }).config.arms.flatMap(({ control }) =>
        control === null ? [] : [control.kind],
      );
    expect(list(read(['order']))).toEqual(['permuted-order']);
    expect(list(read())).toHaveLength(6);
    expect(list(spoil('read', { signals: [{ name: 'read', summary: 's', score: () => 1 }] }))).toEqual([]);
    expect(() => read(['orders'] as never)).toThrow(/signals\[0\]\.reads\[0\]: .*did you mean order/);
  });

  test('cannot take the name of a signal of relevance', () => {
    const run = spoil('mine', { signals: [{ name: 'run', summary: 's', score: () => 1 }] });
    expect(() => experiment({ ...input(), plugins: [run] })).toThrow(/name is taken among signals: run/);
  });

  test('are checked as a whole', () => {
    const wrong = { name: 'Wrong name', version: 1, signals: [{ name: 'No Name', summary: 's' }], indices: [] };
    const act = () => definePlugin(wrong as never);
    expect(act).toThrow(ConfigurationError);
    for (const part of [
      'name: expected',
      'signals[0].name: expected',
      'signals[0]: expected either score or compute',
      'did you mean indexes',
    ])
      expect(act).toThrow(part);
  });

  test('refuse options that a member does not have', () => {
    const name = 'form.similar-length';
    const arms = { words: [...words, score({ [name]: { scal: 1 } }), fuse({ only: name })] };
    expect(() => experiment({ ...input(), plugins: [signal], arms })).toThrow(/score\.form\.similar-length/);
  });
});

test('an editor knows the members of the plugins', () => {
  type Arm = ArmInput<readonly [typeof signal, typeof index, typeof fusion]>;
  const right: Arm = [search({ alternate: {} }), score({ 'form.similar-length': {} }), fuse({ 'best-of': {} })];
  const named: Arm = [search({ words: { index: 'bm25' }, other: { index: 'alternate' } }), fuse('best-of')];
  // @ts-expect-error: no such signal
  const misspelt: Arm = [search({ bm25: {} }), score({ 'form.similar-lengt': {} })];
  // @ts-expect-error: no such index
  const unknown: Arm = [search({ alternates: {} })];
  // @ts-expect-error: no such index of a named source
  const unnamed: Arm = [search({ other: { index: 'alternates' } })];
  // @ts-expect-error: no such fusion
  const fused: Arm = [search({ alternate: {}, bm25: {} }), fuse({ 'best-off': {} })];
  // @ts-expect-error: a signal of a plugin that is not listed
  const unlisted: ArmInput = [search({ bm25: {} }), score({ 'form.similar-length': {} })];
  const wide: ArmInput<readonly PluginDefinition[]> = [search({ bm25: {} }), score({ 'form.any': {} })];
  expect([right, named, misspelt, unknown, unnamed, fused, unlisted, wide]).toHaveLength(8);
});
