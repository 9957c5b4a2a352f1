import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fileName } from '../experiment/arms.ts';
import { loadConfig } from '../experiment/config.ts';
import { PROJECT_ROOT } from '../experiment/environment.ts';
import { ragpp } from './sample-command.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-configs-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(PROJECT_ROOT, 'configs');
const configs = readdirSync(folder);
/** The earliest queries, a small encoder and few resamples. */
const small = ['evaluation.limitQueries=20', 'evaluation.samples=199', 'embedding.dimension=61'];
const executed: string[] = [];

function start(config: string): ReturnType<typeof ragpp> {
  const sets = small.flatMap((override) => ['--set', override]);
  const places = ['--cache', join(root, 'cache'), '--results', join(root, config)];
  return ragpp('run', join(folder, config), ...sets, ...places);
}

/** A file of the one run of a config. */
function fileOf(config: string, name: string): string {
  const [run] = readdirSync(join(root, config));
  return readFileSync(join(root, config, run as string, name), 'utf8');
}

interface Metrics {
  readonly queries: number;
  readonly arms: readonly {
    readonly name: string;
    readonly metrics: Readonly<Record<string, { readonly mean: number }>>;
  }[];
}

describe('every config of the project runs on a slice of its data', () => {
  test.each(configs)(
    '%s',
    async (config) => {
      const { code, stderr } = await start(config);
      expect(code, stderr).toBe(0);
      const { arms, evaluation } = loadConfig(join(folder, config), small);
      const metrics = JSON.parse(fileOf(config, 'metrics.json')) as Metrics;
      expect(metrics.arms.map(({ name }) => name)).toEqual(arms.map(({ name }) => name));
      expect(metrics.queries).toBe(evaluation.split === 'all' ? 40 : 20);
      for (const { name, metrics: figures } of metrics.arms) {
        expect(Object.keys(figures)).toEqual(evaluation.metrics);
        for (const { mean } of Object.values(figures)) expect(mean >= 0 && mean <= 1, `${name}: ${mean}`).toBe(true);
        if (name === evaluation.baseline) expect(figures['mrr@10']?.mean).toBeGreaterThan(0.3);
        const lines = fileOf(config, join('runs', `${fileName(name)}.trec`))
          .trimEnd()
          .split('\n');
        expect(new Set(lines.map((line) => line.split(' ')[0])).size).toBe(metrics.queries);
      }
      executed.push(config);
    },
    300_000,
  );

  test('and none was left out', () => {
    expect(configs.length).toBeGreaterThan(1);
    expect(executed).toEqual(readdirSync(folder));
  });
});

test('literal IRCP ranks as RCP does, to the byte, also on real threads', () => {
  const run = (arm: string) => fileOf('quickstart.yaml', join('runs', `${arm}.trec`)).replaceAll(` ${arm}\n`, '\n');
  expect(run('ircp-literal')).toBe(run('rcp'));
});

test('prepared data that is cut short exits with 1 and says what to delete', async () => {
  const prepared = readdirSync(join(root, 'cache', 'datasets'));
  expect(prepared).toEqual([expect.stringMatching(/^spamassassin-threads-[0-9a-f]{16}\.jsonl$/)]);
  const path = join(root, 'cache', 'datasets', prepared[0] as string);
  truncateSync(path, readFileSync(path).byteLength >> 1);
  const { code, stdout, stderr } = await start('mail-baselines.yaml');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    `ragpp [CHECKSUM_MISMATCH]: damaged file, its last line is not the checksum of the others; delete it, the next run prepares it anew: ${path}\n`,
  );
});
