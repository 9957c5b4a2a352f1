import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { measureDeviation } from './compare.ts';
import { HOST } from './topic.ts';
import { OWN_GOLDEN, readGolden } from './verify.ts';

const hasPython = spawnSync('python3', ['--version']).status === 0;

test.skipIf(!hasPython)('the programs of golden/make compute the golden cases that are kept [needs python3]', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-golden-make-'));
  try {
    const { status, stderr } = spawnSync('python3', [join(OWN_GOLDEN, 'make'), folder], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    const names = readdirSync(folder);
    expect(names.sort()).toEqual([
      'bert.json',
      'conservation-stream.json',
      'propagation-as-of.json',
      'resampling.json',
      'signatures.json',
    ]);
    const kept = new Map(readGolden(OWN_GOLDEN).map((file) => [file.topic, file]));
    for (const file of readGolden(folder)) {
      const { topic } = file;
      // Another libm may round exp and log the other way.
      const deviation = measureDeviation({ at: topic, expected: kept.get(topic), got: file, tolerance: HOST });
      expect(deviation.failure).toBeNull();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
