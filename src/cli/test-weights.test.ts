import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { summariseStrata } from '../lab/run/run-folder.ts';
import { setFit, writeSampleTraining } from '../lab/training/training-config.fixture.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-test-weights-'));
afterAll(() => rmSync(root, { recursive: true }));
const cache = join(root, 'cache');
const results = join(root, 'results');
let folder: string;

async function train(): Promise<void> {
  const options = ['--cache', cache, '--results', results];
  const changes = setFit('mix.fit.importance=false', 'mix.fit.resamples=0').flatMap((change) => ['--set', change]);
  const { code, stderr } = await runRagpp('run', writeSampleTraining(root), ...options, ...changes);
  expect(code, stderr).toBe(0);
}

const look = (of: string, ...more: string[]) => runRagpp('test-weights', of, '--cache', cache, ...more);
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
/** A copy of the training, to be spoilt. */
function copy(name: string): string {
  const path = join(root, name);
  cpSync(folder, path, { recursive: true });
  rmSync(join(path, 'test.json'), { force: true });
  return path;
}

const FIRST = 'Look 1 at the test split of jsonl (14 test queries). By weights with the features text, time, 1 time:';

interface Tested {
  readonly look: { readonly number: number };
  readonly command: string;
  readonly queries: number;
  readonly dataset: { readonly split: string };
  readonly arms: readonly { readonly name: string }[];
  readonly strata: ReturnType<typeof summariseStrata>;
}

beforeAll(async () => {
  await train();
  folder = join(results, readdirSync(results)[0] as string);
});

describe('the first look at the test split', () => {
  test('measures hand-tuned, uniform and learned numbers on it, and writes itself down', async () => {
    const { code, stdout, stderr } = await look(folder);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^learned /m);
    expect(stdout).toContain(FIRST);
    const { look: counted, queries, dataset, arms, strata } = JSON.parse(read('test.json')) as Tested;
    expect([counted.number, queries, dataset.split]).toEqual([1, 13, 'test']);
    expect(Object.keys(strata.arms)).toEqual(arms.map(({ name }) => name));
    const [{ name, levels }] = strata.strata as [(typeof strata.strata)[number]];
    expect(strata.arms.learned?.[name]?.[levels[0]?.name as string]?.['mrr@10']?.mean).toBeGreaterThan(0);
    expect(arms.map(({ name }) => name)).toEqual(['hand-tuned', 'uniform', 'learned']);
    expect(read('test.md')).toContain(FIRST);
  });

  test('is the last one unless another is asked for', async () => {
    const before = read('test.json');
    const refused = await look(folder);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^ragpp \[VALIDATION\]: test split of jsonl was looked at before .*\(1 time, .*--again/m,
    );
    expect(read('test.json')).toBe(before);
    const again = await look(folder, '--again');
    expect(again.stdout).toContain(FIRST); // of the same weights
    const { look: counted, command } = JSON.parse(read('test.json')) as Tested;
    expect([counted.number, command]).toEqual([1, expect.stringContaining('--again')]);
  });
});

test('a training with the same config removes the figures, and the look still counts', async () => {
  await train();
  expect(readdirSync(folder)).not.toContain('test.json');
  const refused = await look(folder);
  expect(refused.stderr).toMatch(/was looked at before with the features text, time \(1 time, /);
});

test('another training with the same features is refused a first look of its own, and lists both', async () => {
  const other = copy('another-training');
  const beside = join(root, 'results', 'another-training');
  cpSync(other, beside, { recursive: true });
  const refused = await look(beside);
  expect(refused.stderr).toMatch(
    /was looked at before with the features text, time \(1 time, first by sample-training-/,
  );
  const { stdout, code } = await look(beside, '--again');
  expect(code).toBe(0);
  expect(stdout).toContain(
    'Look 2 at the test split of jsonl (14 test queries). By weights with the features text, time, 2 times:',
  );
  expect(readFileSync(join(beside, 'test.md'), 'utf8')).toMatch(/\n2\. another-training, commit /);
});

test.each<[string, (path: string) => void, RegExp]>([
  [
    'a dataset without a test query',
    (path) => {
      const dataset = join(path, 'data');
      mkdirSync(dataset);
      for (const name of ['turns.jsonl', 'queries.jsonl', 'qrels.txt']) cpSync(join(root, name), join(dataset, name));
      const queries = readFileSync(join(dataset, 'queries.jsonl'), 'utf8').trimEnd().split('\n');
      const dev = queries.map((line) => JSON.stringify({ ...(JSON.parse(line) as object), split: 'dev' }));
      writeFileSync(join(dataset, 'queries.jsonl'), `${dev.join('\n')}\n`);
      const config = readFileSync(join(path, 'config.yaml'), 'utf8').replace(/path: .*/, `path: ${dataset}`);
      writeFileSync(join(path, 'config.yaml'), config);
    },
    /has no query in split test, fewer than 2/,
  ],
  [
    'a run that fits no arm',
    (path) => {
      const arms = 'arms: { words: [search: { bm25: {} }] }\nevaluation: { baseline: words }\n';
      const config = readFileSync(join(path, 'config.yaml'), 'utf8').replace(/^(arms|evaluation):\n(?: .*\n)+/gm, '');
      writeFileSync(join(path, 'config.yaml'), `${config}${arms}`);
    },
    /run fits no arm: .*; name the folder of a run whose config has mix\.fit/,
  ],
  [
    'a folder without weights',
    (path) => rmSync(join(path, 'weights-linear.safetensors')),
    /folder has no weights-<model>\.safetensors: /,
  ],
])('%s is refused', async (name, spoil, message) => {
  const path = copy(`no-test-${name.replaceAll(' ', '-')}`);
  spoil(path);
  const { code, stderr } = await look(path);
  expect(stderr).toMatch(message);
  expect(code).toBe(1);
});
