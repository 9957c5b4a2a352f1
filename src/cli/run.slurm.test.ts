import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findSlurmObstacle, useSlurm } from '../experiment/launch/slurm.harness.ts';
import { buildSampleConfig, writeSampleJsonl } from '../experiment/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';

const obstacle = findSlurmObstacle();
if (obstacle !== null) process.stderr.write(`run.slurm.test: skipped, ${obstacle}\n`);

const root = mkdtempSync(join(tmpdir(), 'ragpp-run-slurm-'));
afterAll(() => rmSync(root, { recursive: true, maxRetries: 5 }));
const config = join(root, 'sample.yaml');
const start = (name: string, ...more: string[]) =>
  runRagpp('run', config, '--cache', join(root, `${name}-cache`), '--results', join(root, name), ...more);

function listRunFiles(name: string, kind: RegExp): [string, string][] {
  const folder = join(root, name, readdirSync(join(root, name))[0] as string);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => kind.test(file));
  return files.sort().map((file) => [file, readFileSync(join(folder, file), 'utf8')]);
}

describe.skipIf(obstacle !== null)('a run on a cluster of its own', () => {
  useSlurm(() => {
    writeSampleJsonl(root);
    writeFileSync(
      config,
      JSON.stringify({ ...buildSampleConfig(root), launcher: { name: 'slurm', pollSeconds: 0.5 } }),
    );
  });

  test('finds what a process of this machine finds, byte for byte, also with an arm that fails', async () => {
    const failing =
      'arms.propagated.candidates=[{index: bm25, k: 17, variant: bm25l, k1: 1.7e308}, {index: flat, k: 17}]';
    const [there, here] = [
      await start('there', '--set', failing, '--workers', '2'),
      await start('here', '--set', failing, '--launcher', 'local'),
    ];
    expect(there.code, there.stderr).toBe(1);
    expect(here.code).toBe(1);
    expect(there.stderr).toMatch(/^ragpp: arm propagated failed \[NOT_FINITE\]/m);
    const lasting = /^(metrics\.json|per-query\.jsonl|config\.yaml|runs.*\.trec)$/;
    expect(listRunFiles('there', lasting)).toEqual(listRunFiles('here', lasting));
    const [[, script] = []] = listRunFiles('there', /job\.sh$/);
    expect(script).toContain('#SBATCH --array=0-4%2\n');
    expect(listRunFiles('there', /\.log$/)).toHaveLength(5);
  });
});
