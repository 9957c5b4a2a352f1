import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { PROJECT_ROOT } from '../run/environment.ts';
import { SAMPLE_RUN, writeSampleRun } from '../run/run-folder.fixture.ts';
import { findRunFolders, readRunConfig, readRunSummary } from './run-summary.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-runs-'));
afterAll(() => rmSync(root, { recursive: true }));
writeSampleRun(join(root, 'b'), SAMPLE_RUN);
writeSampleRun(join(root, 'deep', 'a'), { ...SAMPLE_RUN, experiment: 'other' });
mkdirSync(join(root, 'b', 'rescored', 'x'), { recursive: true });
writeFileSync(join(root, 'b', 'rescored', 'x', 'metrics.json'), '{}');
for (const unfinished of ['c.partial', 'b.replaced']) writeSampleRun(join(root, unfinished), SAMPLE_RUN);

test('runs are found below a folder, and nothing within a run', () => {
  expect(findRunFolders(root)).toEqual([join(root, 'b'), join(root, 'deep', 'a')]);
  expect(findRunFolders(join(root, 'b'))).toEqual([join(root, 'b')]);
  expect(() => findRunFolders(join(root, 'absent'))).toThrow(StorageError);
});

test('a summary holds arms, failures and environment; what an older run lacks is empty', () => {
  const summary = readRunSummary(join(root, 'b'));
  expect(summary).toMatchObject({ experiment: 'ladder', hash: 'a1b2c3d4e5f6', queries: 6, baseline: 'bm25' });
  expect(summary.arms.map(({ name, levels, control }) => [name, levels, control])).toEqual([
    ['bm25', null, null],
    ['cosine', { weight: '0.5' }, null],
  ]);
  expect(summary.statistics).toEqual({ samples: 10_000, level: 0.95 });
  expect(readRunConfig(join(root, 'b'))).toEqual(SAMPLE_RUN.config);
});

test('a published run is read as well', () => {
  const summary = readRunSummary(join(PROJECT_ROOT, 'results', 'quickstart'));
  expect(summary.experiment).toBe('quickstart');
  expect(summary.arms.length).toBeGreaterThan(10);
});

test('figures of something else are refused', () => {
  const folder = join(PROJECT_ROOT, 'results', 'conservation-drift');
  const path = join(folder, 'metrics.json');
  expect(() => readRunSummary(folder)).toThrow(
    new ValidationError(`not the metrics of a run: ${path}; name the folder of a run`, { path }),
  );
});
