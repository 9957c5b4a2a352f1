import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { buildLocomoSamples } from '../data/locomo/locomo.fixture.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-unknown-turns-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Runs a config on the samples. @returns the folder of the run. */
async function run(name: string, samples: object): Promise<string> {
  const results = join(root, name);
  mkdirSync(results);
  const path = join(results, 'locomo.json');
  writeFileSync(path, JSON.stringify(samples));
  const config = join(results, 'config.yaml');
  const arms = { newest: [{ search: { newest: { k: 5 } } }], bm25: [{ search: { bm25: { k: 5 } } }] };
  const evaluation = { baseline: 'newest', split: 'dev', metrics: ['mrr@5'], samples: 100 };
  const dataset = { name: 'locomo', path };
  const embedding = { encoder: 'lsa', dimension: 2 };
  writeFileSync(config, JSON.stringify({ name, dataset, embedding, evaluation, arms }));
  const folders = ['--cache', join(root, 'cache'), '--results', join(results, 'runs')];
  const { code, stderr } = await runRagpp('run', config, ...folders);
  expect(code, stderr).toBe(0);
  return join(results, 'runs', readdirSync(join(results, 'runs'))[0] as string);
}

/** The samples without the ids in `Who ate what?` that name no turn. */
const soundSamples = () =>
  JSON.parse(JSON.stringify(buildLocomoSamples()).replace('"D1:4","D1:17 D1:3"', '"D1:3"')) as object;

const SENTENCE =
  'judgements that name no turn of locomo, and do not count: 2; correct them, or give their number with the figures';

describe('judgements that name no turn', () => {
  test('are counted below every table of the run, on its page and in metrics.json, also when it is rescored', async () => {
    const folder = await run('dropped', buildLocomoSamples());
    const read = (file: string) => readFileSync(join(folder, file), 'utf8');
    for (const file of ['table.md', 'table.tex', 'report.html']) expect(read(file), file).toContain(SENTENCE);
    const warning = { code: 'unknown-turns', system: null, message: SENTENCE };
    expect(JSON.parse(read('metrics.json')).warnings).toContainEqual(warning);
    const rescored = await runRagpp('rescore', folder, '--metrics', 'mrr@3');
    expect(rescored.stdout.replace(/\s+/g, ' ')).toContain(SENTENCE);
    for (const file of ['table.md', 'table.tex']) expect(read(`rescored/mrr-3/${file}`)).toContain(SENTENCE);
    expect(JSON.parse(read('rescored/mrr-3/metrics.json')).warnings).toEqual([warning]);
  });

  test('are not mentioned where there are none', async () => {
    const folder = await run('sound', soundSamples());
    for (const file of ['table.md', 'report.html', 'metrics.json'])
      expect(readFileSync(join(folder, file), 'utf8')).not.toContain('name no turn of');
  });
});
