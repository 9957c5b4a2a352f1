import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { fuseLists, fusionOptions } from './registry.ts';

const golden = fileURLToPath(new URL('../../../shared/golden/rank-fusion.json', import.meta.url));

const missing = !existsSync(golden);
if (missing) console.warn(`skipped: fusions beside those of ranx, no file: ${golden}`);

/** What ranx 0.3.21 makes of the same lists, by its names. */
const RANX = {
  'rrf k=60': { method: 'rrf' },
  'rrf k=10': { method: 'rrf', k: 10 },
  'sum min-max': { method: 'combsum' },
};

describe.skipIf(missing)('fuseLists and ranx give the same scores', () => {
  test.each(Object.entries({ ...RANX, 'mnz min-max': { method: 'combmnz' } }))('%s', (name, fusion) => {
    const { cases } = JSON.parse(readFileSync(golden, 'utf8'));
    const findRanxCase = (wanted: string) => cases.find((one: { name: string }) => one.name === wanted);
    const runs = findRanxCase('inputs').runs as Record<string, Record<string, number>>[];
    const expected = findRanxCase(name).expected as Record<string, Record<string, number>>;
    for (const [query, scores] of Object.entries(expected)) {
      const lists = runs.map((run) => Object.entries(run[query] ?? {}).map(([id, score]) => ({ id, score })));
      const fused = fuseLists(Object.fromEntries(lists.entries()), fusionOptions.parse(fusion));
      expect(fused.map(({ id }) => id).sort()).toEqual(Object.keys(scores).sort());
      for (const { id, score } of fused) expect(score).toBeCloseTo(scores[id] as number, 9);
    }
  });
});
