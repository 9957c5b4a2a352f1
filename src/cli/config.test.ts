import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { resolveConfig } from '../lab/config/config.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-cli-config-'));
afterAll(() => rmSync(root, { recursive: true }));
const config = join(root, 'sample.yaml');
const cache = join(root, 'cache');
const sweep = {
  method: 'grid',
  arm: 'unified',
  factors: { 'blend.trajectory.weight': [0.1, 0.2], 'blend.unified.weight': [0.3] },
};

beforeAll(() => {
  writeSampleJsonl(root);
  writeFileSync(config, JSON.stringify({ ...buildSampleConfig(root), sweep }));
});

const show = (...argv: string[]) => runRagpp('config', 'show', config, '--cache', cache, ...argv);

interface Shown {
  readonly config: Record<string, unknown>;
  readonly arms: readonly { readonly name: string; readonly extends: string | null; readonly isRun: boolean }[];
  readonly stages: {
    readonly executions: Readonly<Record<string, number>>;
    readonly total: number;
    readonly exact: boolean;
    readonly cached: number;
  };
}
const showJson = async (...argv: string[]) => JSON.parse((await show('--json', ...argv)).stdout) as Shown;

describe('what is shown', () => {
  test('is the config written out, which resolves to itself', async () => {
    const { code, stdout } = await show();
    expect(code).toBe(0);
    const written = parse(stdout) as Record<string, unknown>;
    const resolved = resolveConfig({ ...buildSampleConfig(root), sweep }, 'sample');
    expect(written).toEqual(JSON.parse(JSON.stringify(resolved)));
    expect(JSON.parse(JSON.stringify(resolveConfig(written, 'again')))).toEqual(written);
  });

  test('and below it, as comments, what each arm is and what it costs', async () => {
    const { stdout } = await show();
    const comments = stdout.split('\n').filter((line) => line.startsWith('#'));
    const findComment = (start: string) => comments.filter((text) => text.startsWith(`# ${start}`));
    expect(findComment('7 arms; ')).toHaveLength(1);
    expect(findComment('newest ')).toEqual([expect.stringMatching(/^# newest +- +search\.newest\.k=19$/)]);
    expect(findComment('hybrid ')).toEqual([expect.stringMatching(/, tuned over 2 points$/)]);
    expect(findComment('unified | blend.trajectory.weight=0.2, blend.unified.weight=0.3 ')).toEqual([
      expect.stringMatching(/ unified +blend\.trajectory\.weight=0\.2, blend\.unified\.weight=0\.3$/),
    ]);
    expect(findComment('tuning tries 4 points')).toHaveLength(1);
    expect(findComment('at most ')).toEqual([
      expect.stringMatching(/^# at most \d+ stage executions on wasm, 0 of them in the cache:$/),
    ]);
    expect(findComment('candidates-bm25 ')).toHaveLength(1);
  });

  test('and a warning for an arm with a list that cannot reach the ranks that are measured', async () => {
    const fusion = 'arms.hybrid.set={fuse: {rrf: {hnsw: 1, bm25: 9}}}';
    const untuned = ['--set', 'arms.hybrid.tune={}', '--set', 'arms.Decayed × 2.tune={}'];
    const { stdout, stderr } = await show('--set', fusion, ...untuned);
    expect(stderr).not.toContain('expected');
    expect(stdout).toMatch(/^# warning \(unreachable-list\): hybrid: best rank .*: hnsw \d+ and \d+; /m);
    expect((await show()).stdout).not.toContain('warning');
  });

  test('equals the number of stages that a run caches, besides those that are always recomputed', async () => {
    const untuned = ['--set', 'arms.hybrid.tune={}', '--set', 'arms.Decayed × 2.tune={}'];
    const before = await showJson(...untuned);
    expect(before.stages).toMatchObject({ exact: true, cached: 0 });
    const results = join(root, 'results');
    const { code, stderr } = await runRagpp('run', config, '--cache', cache, '--results', results, ...untuned);
    expect(code, stderr).toBe(0);
    const after = await showJson(...untuned);
    expect(after.stages.total).toBe(before.stages.total);
    const kept = readdirSync(join(cache, 'stages'), { recursive: true, encoding: 'utf8' });
    expect(after.stages.cached).toBe(kept.filter((name) => name.endsWith('.safetensors')).length);
    const { 'candidates-newest': newest = 0 } = before.stages.executions;
    expect(newest).toBeGreaterThan(0);
    expect(after.stages.cached).toBe(before.stages.total - newest);
  });

  test('is changed by options as a run is', async () => {
    const { config: written, arms } = await showJson('--arm', 'unified', '--limit-queries', '7', '--set', 'seed=8');
    expect(written).toMatchObject({ seed: 8, evaluation: { limitQueries: 7 }, only: ['hybrid', 'unified'] });
    expect(arms.map(({ name, extends: start, isRun }) => [name, start, isRun])).toEqual([
      ['hybrid', null, true],
      ['Decayed × 2', 'hybrid', false],
      ['unified', 'Decayed × 2', true],
    ]);
  });
});

describe('wrong usage exits with 2', () => {
  test.each([
    [
      'a fault of the config',
      ['config', 'show', config, '--set', 'sede=1'],
      /sede \(--set\): expected one of .*; did you mean seed\?/,
    ],
    [
      'an arm that is none',
      ['config', 'show', config, '--arm', 'unfied'],
      /--arm: expected an arm of sample, got "unfied"/,
    ],
    ['no config', ['config', 'show'], /missing required argument 'config'\n\(see ragpp config show --help\)/],
    [
      'an option that is none',
      ['config', 'show', config, '--jsno'],
      /unknown option '--jsno'\n\(Did you mean --json\?\)/,
    ],
    [
      'a command that is none',
      ['config', 'sohw'],
      /unknown command 'sohw'\n\(Did you mean show\?\)\n\(see ragpp config --help\)/,
    ],
  ])('%s', async (_, argv, message) => {
    const { code, stdout, stderr } = await runRagpp(...argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

describe('config schema', () => {
  test('is printed as JSON Schema', async () => {
    const { code, stdout } = await runRagpp('config', 'schema');
    expect(code).toBe(0);
    const schema = JSON.parse(stdout);
    expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#');
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(['dataset', 'arms', 'sweep', 'extends']));
  });

  test('or written to a file alone', async () => {
    const out = join(root, 'editor', 'config.schema.json');
    const { code, stdout } = await runRagpp('config', 'schema', '--out', out);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(JSON.parse(readFileSync(out, 'utf8')).additionalProperties).toBe(false);
  });
});
