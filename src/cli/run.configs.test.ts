import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeSafetensors } from '../core/files/safetensors.ts';
import { createRandom } from '../core/numbers/random.ts';
import { datasetOptions, loadDataset } from '../data/registry.ts';
import { writeSmallBert } from '../index/encoders/bert.fixture.ts';
import { formatFileName } from '../lab/composition/arms.ts';
import { composeFiles } from '../lab/composition/config-composition.ts';
import { findFittedArm, listArmsToRun, selectArms } from '../lab/config/arm-selection.ts';
import { type ExperimentConfig, loadConfig } from '../lab/config/config.ts';
import { PROJECT_ROOT } from '../lab/run/environment.ts';
import { LOCOMO, OUTSIDE_DATA, writeFewMails, writeFewQuestions } from '../lab/run/few-data.fixture.ts';
import { setFit } from '../lab/training/training-config.fixture.ts';
import { SMALL_SIZES } from '../ops/bert/bert.fixture.ts';
import { runRagpp, type StoredMetrics } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-configs-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(PROJECT_ROOT, 'configs');
/** All but the parts that configs are put together from. */
const listConfigs = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml') && !file.startsWith('groups'))
    .sort();
const configs = listConfigs();
const isTraining = (config: string) => config.startsWith('learning');

/** The first built-in mails, as single files. */
const fewMails = join(root, 'mails');
writeFewMails(fewMails);

const irc = join(OUTSIDE_DATA, 'irc');
const hipporag = join(OUTSIDE_DATA, 'hipporag');
const vaswani = join(OUTSIDE_DATA, 'vaswani');
const rHelp = join(OUTSIDE_DATA, 'r-help', 'r-help-1995-1999.parquet');
const fewQuestions = join(root, 'locomo.json');
const fewLogs = join(root, 'irc');
const fewPassages = join(root, 'hipporag');
if (existsSync(hipporag)) writeFewPassages(fewPassages);
if (existsSync(irc)) {
  // Two files a log: what was said, and what answers what.
  for (const part of ['train', 'dev']) {
    mkdirSync(join(fewLogs, part), { recursive: true });
    for (const name of readdirSync(join(irc, part)).sort().slice(0, 4))
      copyFileSync(join(irc, part, name), join(fewLogs, part, name));
  }
}
writeFewQuestions(fewQuestions);

/** All questions, with the passages that answer them and every eighth of the others. */
function writeFewPassages(to: string): void {
  mkdirSync(to);
  const read = (name: string) => JSON.parse(readFileSync(join(hipporag, name), 'utf8')) as unknown;
  const write = (name: string, content: unknown) => writeFileSync(join(to, name), JSON.stringify(content));
  const musique = read('musique_train.json') as {
    paragraphs: { paragraph_text: string; is_supporting: boolean }[];
  }[];
  const supporting = musique.flatMap(({ paragraphs }) => paragraphs.filter((one) => one.is_supporting));
  const needed = new Set(supporting.map(({ paragraph_text }) => paragraph_text));
  const passages = read('musique_train_corpus.json') as { text: string }[];
  write('musique_train.json', musique);
  write(
    'musique_train_corpus.json',
    passages.filter(({ text }, i) => needed.has(text) || i % 8 === 0),
  );
  const hotpot = read('hotpotqa_train.json') as { supporting_facts: [string, number][] }[];
  const titles = new Set(hotpot.flatMap(({ supporting_facts }) => supporting_facts.map(([title]) => title)));
  const articles = Object.entries(read('hotpotqa_train_corpus.json') as object);
  write('hotpotqa_train.json', hotpot);
  write(
    'hotpotqa_train_corpus.json',
    Object.fromEntries(articles.filter(([title], i) => titles.has(title) || i % 8 === 0)),
  );
}

/** Drawn vectors of all turns or queries of the conversations. */
function writeDrawnVectors(name: string, rows: readonly { readonly id: string }[]): string {
  const path = join(root, `${name}.safetensors`);
  const source = createRandom(7, name);
  const data = Float32Array.from({ length: rows.length * 11 }, () => source.uniform() - 0.5);
  const tensors = { vectors: { shape: [rows.length, 11], data } };
  writeSafetensors(path, { tensors, metadata: { ids: JSON.stringify(rows.map(({ id }) => id)) } });
  return path;
}

async function drawOwnVectors(): Promise<string> {
  const options = datasetOptions.parse({ name: 'locomo', path: fewQuestions });
  const { corpus, queries } = await loadDataset(options, { cacheFolder: null });
  const turns = writeDrawnVectors('turns', corpus.turns);
  return `embedding={encoder: precomputed, turns: ${turns}, queries: ${writeDrawnVectors('queries', queries)}}`;
}

const smallBert = join(root, 'small-bert');
writeSmallBert(
  smallBert,
  {},
  { ...SMALL_SIZES, hidden_size: 61, num_attention_heads: 1, max_position_embeddings: 128 },
);
const ownVectors = existsSync(fewQuestions) ? await drawOwnVectors() : '';

const set = (...changes: string[]) => changes.flatMap((change) => ['--set', change]);
const joinWeightsPath = (training: string) => join(root, 'results', training, 'weights.safetensors');

const useSmallBert = `embedding={encoder: bert, model: ${smallBert}, pooling: mean, maxTokens: 128}`;
const setSmallLate = [
  useSmallBert,
  ...setFit('mix.signals.groups=[text, late]', 'mix.signals.encoders=[]', 'mix.fit.select.size=[3]'),
];
const setSmallTransfer = setFit(
  `mix.fit.transfer.0.dataset.path=${fewQuestions}`,
  'mix.fit.transfer.0.steps=[search: {bm25: {k: 40}}]',
  `mix.fit.transfer.1.dataset.path=${fewLogs}`,
  'mix.fit.transfer.1.steps=[search: {newest: {k: 20}}]',
  'mix.fit.transfer.1.limitQueries=44',
);

/** What a config needs of the data folder, where its data and its weights then are, and what makes it cheaper. */
const OUTSIDE: Readonly<Record<string, { readonly needs: readonly string[]; readonly changes: readonly string[] }>> = {
  'chat-export.yaml': { needs: [], changes: ['embedding={encoder: lsa, dimension: 61}', 'evaluation.split=dev'] },
  // A query of the kind absent has no relevant turn, and is in no figure.
  'corrections.yaml': { needs: [], changes: ['dataset.kinds=[superseded, contradictory, adjacent]'] },
  'curation-mail.yaml': { needs: [], changes: ['embedding={encoder: lsa, dimension: 61}'] },
  'attributes.yaml': { needs: [], changes: ['embedding={encoder: use-lite}'] },
  'encoders/bert.yaml': {
    needs: [LOCOMO],
    changes: [`dataset.path=${fewQuestions}`, `embedding.model=${smallBert}`, 'embedding.pooling=mean'],
  },
  'encoders/openai-compatible.yaml': {
    needs: [LOCOMO],
    changes: [`dataset.path=${fewQuestions}`, 'embedding={encoder: lsa, dimension: 61}'],
  },
  'encoders/precomputed.yaml': { needs: [LOCOMO], changes: [`dataset.path=${fewQuestions}`, ownVectors] },
  'encoders/transformers.yaml': {
    needs: [LOCOMO],
    changes: [`dataset.path=${fewQuestions}`, 'embedding={encoder: lsa, dimension: 61}'],
  },
  'late-locomo.yaml': {
    needs: [LOCOMO],
    changes: [`dataset.path=${fewQuestions}`, `embedding.model=${smallBert}`, 'embedding.pooling=mean'],
  },
  'learning/late-locomo.yaml': {
    needs: [LOCOMO],
    changes: [`dataset.path=${fewQuestions}`, ...setSmallLate],
  },
  'learning/late-mail.yaml': { needs: [], changes: setSmallLate },
  'learning/late-transfer.yaml': { needs: [LOCOMO, irc], changes: [...setSmallLate, ...setSmallTransfer] },
  'learning/locomo.yaml': { needs: [LOCOMO], changes: [`dataset.path=${fewQuestions}`] },
  'learning/multihop.yaml': {
    needs: [hipporag],
    changes: [
      `dataset.path=${fewPassages}`,
      useSmallBert,
      ...setFit('search={bm25: {k: 12}, late: {k: 12, view: plain}}', 'mix.fit.select.size=[3]'),
    ],
  },
  'learning/sparse-locomo.yaml': { needs: [LOCOMO], changes: [`dataset.path=${fewQuestions}`] },
  'learning/transfer.yaml': {
    needs: [LOCOMO, irc],
    changes: [...setFit('mix.signals.groups=[text, time]'), ...setSmallTransfer],
  },
  'learning/strategies.yaml': {
    needs: [LOCOMO],
    changes: [`dataset.path=${fewQuestions}`, ...setFit('mix.signals.groups=[text, memory]')],
  },
  'strategies.yaml': {
    needs: [LOCOMO],
    changes: [`dataset.path=${fewQuestions}`, 'embedding={encoder: lsa, dimension: 61}'],
  },
  'locomo.yaml': {
    needs: [LOCOMO],
    changes: [
      `dataset.path=${fewQuestions}`,
      'embedding={encoder: lsa, dimension: 61}',
      `arms.learned.set.mix=${joinWeightsPath('learning/locomo.yaml')}`,
    ],
  },
  'learning/mail-author.yaml': { needs: [], changes: setFit('mix.signals.groups=[text, time, author]') },
  'graph-ablation.yaml': { needs: [hipporag], changes: [`dataset.path=${fewPassages}`] },
  'graph-titles.yaml': { needs: [hipporag], changes: [`dataset.path=${fewPassages}`] },
  'evidence-locomo.yaml': {
    needs: [LOCOMO],
    changes: [`dataset.path=${fewQuestions}`, 'embedding={encoder: lsa, dimension: 61}'],
  },
  'learning/evidence-locomo.yaml': { needs: [LOCOMO], changes: [`dataset.path=${fewQuestions}`] },
  'hybrid.yaml': {
    needs: [LOCOMO],
    changes: [`dataset.path=${fewQuestions}`, 'embedding={encoder: lsa, dimension: 61}', 'evaluation.split=dev'],
  },
  'multihop-hotpotqa.yaml': { needs: [hipporag], changes: [`dataset.path=${fewPassages}`, useSmallBert] },
  'multihop-musique.yaml': { needs: [hipporag], changes: [`dataset.path=${fewPassages}`, useSmallBert] },
  'shop.yaml': {
    needs: [],
    changes: [
      'embedding={encoder: lsa, dimension: 61}',
      `arms.learned.set.mix=${joinWeightsPath('learning/strategies-shop.yaml')}`,
    ],
  },
  'strategies-mail.yaml': {
    needs: [],
    changes: [
      'embedding={encoder: lsa, dimension: 61}',
      `arms.learned.set.mix=${joinWeightsPath('learning/strategies-mail.yaml')}`,
      'arms.own weights of users.set.score.strategy.users={}',
    ],
  },
  'slice-policies.yaml': { needs: [], changes: ['controls=false', 'sweep=null'] },
  'vaswani.yaml': { needs: [vaswani], changes: [`dataset.path=${vaswani}`, 'evaluation.split=test'] },
  'r-help.yaml': {
    needs: [rHelp],
    changes: [
      `dataset.path=${rHelp}`,
      'embedding={encoder: lsa, dimension: 61}',
      'dataset.split=time',
      `arms.learned.set.mix=${joinWeightsPath('learning/mail.yaml')}`,
      `arms.learned, with author.set.mix=${joinWeightsPath('learning/mail-author.yaml')}`,
    ],
  },
  'latency.yaml': { needs: [], changes: ['evaluation.latency={queries: 5, warmUp: 1}'] },
  'mail.yaml': {
    needs: [],
    changes: [
      `dataset.path=${fewMails}`,
      'embedding={encoder: lsa, dimension: 61}',
      `arms.learned.set.mix=${joinWeightsPath('learning/mail.yaml')}`,
    ],
  },
};

const listMissing = (config: string) => (OUTSIDE[config]?.needs ?? []).filter((path) => !existsSync(path));
/** The first built-in mails take a quarter of the time; `npm start` runs on all of them. */
const ON_FEW_MAILS = `dataset={name: mail-threads, path: ${fewMails}}`;
const needsMails = (config: string) =>
  loadConfig(join(folder, config), isTraining(config) ? [] : OUTSIDE[config]?.changes).dataset.name ===
  'spamassassin-threads';
const setOutside = (config: string) =>
  set(...(needsMails(config) ? [ON_FEW_MAILS] : []), ...(OUTSIDE[config]?.changes ?? []));
const runnable = configs.filter((config) => {
  const lacking = listMissing(config);
  if (lacking.length > 0) console.warn(`skipped: configs/${config}, no data: ${lacking.map((path) => basename(path))}`);
  return lacking.length === 0;
});
const experiments = runnable.filter((config) => !isTraining(config));
const trainings = runnable.filter(isTraining);

/** Few queries, a small encoder and few resamples. */
const small = ['--limit-queries', '20', ...set('evaluation.samples=199', 'embedding.dimension=61')];
/** Few queries, one epoch, nothing that takes a network to embed. */
const smallTraining = set(
  'evaluation.limitQueries=44',
  'embedding={encoder: lsa, dimension: 61}',
  'evaluation.samples=199',
  ...setFit(
    'search={bm25: {k: 12}, newest: {k: 12}}',
    'mix.signals.encoders=[]',
    'mix.fit.epochs=1',
    'mix.fit.seeds=1',
    'mix.fit.l2=[0.003]',
    'mix.fit.folds=2',
    'mix.fit.innerFolds=2',
    'mix.fit.resamples=2',
    'mix.fit.importance=false',
    'mix.fit.controls=false',
  ),
);
const executed: string[] = [];
const planned: string[] = [];

function runRagppOn(command: readonly string[], config: string, ...more: string[]): ReturnType<typeof runRagpp> {
  const sizes = isTraining(config) ? smallTraining : small;
  return runRagpp(
    ...command,
    join(folder, config),
    '--cache',
    join(root, 'cache'),
    ...sizes,
    ...setOutside(config),
    ...more,
  );
}

const loadShippedConfig = (config: string) => loadConfig(join(folder, config), OUTSIDE[config]?.changes ?? []);

/** @param arms all where none is named. */
function start(config: string, arms: readonly string[] = []): ReturnType<typeof runRagpp> {
  const chosen = arms.flatMap((name) => ['--arm', name]);
  return runRagppOn(['run'], config, '--results', join(root, 'results', config), ...chosen);
}

interface Plan {
  readonly arms: readonly { readonly name: string }[];
  readonly stages: { readonly total: number; readonly exact: boolean };
}

async function showPlan(config: string, ...more: string[]): Promise<Plan> {
  const { code, stdout, stderr } = await runRagppOn(['config', 'show'], config, '--json', ...more);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Plan;
}

/** A file of the one run of a config. */
function readRunFile(config: string, name: string): string {
  const [run] = readdirSync(join(root, 'results', config)).filter((entry) => !entry.endsWith('.json'));
  return readFileSync(join(root, 'results', config, run as string, name), 'utf8');
}

/** Of a longer list some arms are run. */
const MOST_ARMS = 16;

/**
 * The arms to run: of a sweep the first and the last that vary each factor, of a long list every fourth with its
 * controls; none, which means all, of other configs.
 */
function chooseArms({ arms, sweep }: ExperimentConfig): string[] {
  if (sweep === null && arms.length > MOST_ARMS) return arms.filter((_, i) => i % 4 === 1).map(({ name }) => name);
  const swept = (sweep?.factors ?? []).flatMap(({ name: factor }) => {
    const varied = arms.filter(({ levels }) => levels?.[factor] !== undefined);
    return [varied[0]!, varied.at(-1)!];
  });
  return [...new Set(swept.map(({ name }) => name))];
}

describe('every config of the project runs on a slice of its data', () => {
  test.each(trainings)(
    '%s',
    async (config) => {
      const resolved = loadConfig(join(folder, config));
      const { code, stderr } = await runRagppOn(['run'], config, '--results', join(root, 'results', config));
      expect(code, stderr).toBe(0);
      const metrics = JSON.parse(readRunFile(config, 'metrics.json')) as StoredMetrics;
      expect(metrics.queries).toBeGreaterThan(20);
      expect(metrics.queries).toBeLessThanOrEqual(44);
      expect(metrics.arms.length).toBe(5);
      for (const { name, metrics: figures } of metrics.arms) {
        expect(Object.keys(figures)).toEqual(resolved.evaluation.metrics);
        for (const { mean } of Object.values(figures)) expect(mean >= 0 && mean <= 1, `${name}: ${mean}`).toBe(true);
      }
      {
        const [run] = readdirSync(join(root, 'results', config)).filter((entry) => !entry.endsWith('.json'));
        const file = join(
          root,
          'results',
          config,
          run as string,
          `weights-${findFittedArm(resolved)?.mix.fit.model.name}.safetensors`,
        );
        writeFileSync(joinWeightsPath(config), readFileSync(file));
      }
      executed.push(config);
    },
    300_000,
  );

  test.each(experiments)(
    '%s can be planned, with every arm',
    async (config) => {
      const { arms, stages } = await showPlan(config);
      const resolved = loadShippedConfig(config);
      expect(arms.map(({ name }) => name)).toEqual(resolved.arms.map(({ name }) => name));
      expect(stages.total).toBeGreaterThan(3);
      for (const { levels } of resolved.sweep?.factors ?? []) expect(levels.length).toBeGreaterThan(0);
      planned.push(config);
    },
    120_000,
  );

  test.each(experiments)(
    '%s',
    async (config) => {
      const resolved = loadShippedConfig(config);
      const wanted = chooseArms(resolved);
      const { code, stderr } = await start(config, wanted);
      expect(code, stderr).toBe(0);
      const { evaluation } = resolved;
      const expected = listArmsToRun(selectArms(resolved, wanted)).map(({ name }) => name);
      const metrics = JSON.parse(readRunFile(config, 'metrics.json')) as StoredMetrics;
      expect(metrics.arms.map(({ name }) => name)).toEqual(expected);
      expect(expected.length).toBeGreaterThan(1);
      expect(metrics.queries).toBe(evaluation.split === 'all' && !(config in OUTSIDE) ? 40 : 20);
      for (const { name, metrics: figures } of metrics.arms) {
        expect(Object.keys(figures)).toEqual(evaluation.metrics);
        for (const { mean } of Object.values(figures)) expect(mean >= 0 && mean <= 1, `${name}: ${mean}`).toBe(true);
        if (name === evaluation.baseline) expect(figures[evaluation.metrics[0] as string]?.mean).toBeGreaterThan(0);
        const lines = readRunFile(config, join('runs', `${formatFileName(name)}.trec`))
          .trimEnd()
          .split('\n');
        const found = new Set(lines.map((line) => line.split(' ')[0])).size;
        // In a slice of a few turns a query may find nothing, and so may one that shares no word with what is remembered.
        const isSliced = Boolean(resolved.arms.find((arm) => arm.name === name)?.slice);
        const hasFewTurns = isSliced || config === 'shop.yaml' || OUTSIDE[config]?.needs.includes(LOCOMO);
        if (!hasFewTurns) expect(found).toBe(metrics.queries);
        expect(found).toBeLessThanOrEqual(metrics.queries);
        expect(found).toBeGreaterThan(metrics.queries / 2);
      }
      executed.push(config);
    },
    300_000,
  );

  test('every config is run', () => {
    expect(configs.length).toBeGreaterThan(5);
    const left = listConfigs().filter((config) => listMissing(config).length === 0);
    expect(executed.toSorted()).toEqual(left);
    expect(planned).toEqual(left.filter((config) => !isTraining(config)));
  });

  test('every group is named by a config, or by a command at the head of one', () => {
    const files = readdirSync(join(folder, 'groups'), { recursive: true, encoding: 'utf8' });
    const groups = files.filter((file) => file.endsWith('.yaml')).map((file) => join(folder, 'groups', file));
    const used = configs.flatMap((config) => {
      const path = join(folder, config);
      const commands = readFileSync(path, 'utf8').match(/^# .*--set groups\..*$/gm) ?? [];
      const changes = commands.map((command) =>
        [...command.matchAll(/--set (\S+)/g)].map(([, change]) => change as string),
      );
      return [[], ...changes].flatMap((set) => {
        if (set.length > 0) expect(loadConfig(path, set).name).toBeTruthy();
        return composeFiles(path, set).layers.map(({ file }) => resolve(file));
      });
    });
    expect(groups.filter((file) => !used.includes(file))).toEqual([]);
    expect(groups.length).toBeGreaterThan(3);
  });
});

test('24 arms that differ in two shares of a score cost no more stages than one of them', async () => {
  const config = join('sweeps', 'rerank-weights.yaml');
  const [all, one] = [await showPlan(config), await showPlan(config, '--arm', 'unified')];
  expect([all.arms.length, one.arms.length]).toEqual([26, 2]);
  expect(all.stages).toEqual(one.stages);
  expect(all.stages.exact).toBe(true);
});

test('literal IRCP ranks as RCP does, to the byte, also on real threads', () => {
  const run = (arm: string) =>
    readRunFile('quickstart.yaml', join('runs', `${arm}.trec`)).replaceAll(` ${arm}\n`, '\n');
  expect(run('ircp-literal')).toBe(run('rcp'));
});

test('prepared data that is cut short exits with 1 and says what to delete', async () => {
  const prepared = readdirSync(join(root, 'cache', 'datasets')).filter((file) => file.startsWith('mail-threads'));
  expect(prepared).toEqual([expect.stringMatching(/^mail-threads-[0-9a-f]{16}\.jsonl$/)]);
  const path = join(root, 'cache', 'datasets', prepared[0] as string);
  truncateSync(path, readFileSync(path).byteLength >> 1);
  const results = join(root, 'results', 'cut short'); // a finished run of the same command needs no data
  const { code, stdout, stderr } = await runRagppOn(['run'], 'quickstart.yaml', '--results', results);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    `ragpp [CHECKSUM_MISMATCH]: damaged file ${path}: its last line is not the checksum of the others; delete the file and run again to prepare the data\n`,
  );
});
