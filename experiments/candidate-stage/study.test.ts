import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../src/core/errors/errors.ts';
import { runStudy } from '../study.harness.ts';
import { createStudyCommand } from '../study.ts';
import { candidateStage } from './study.ts';
import type { GraphPoint } from './table.ts';

describe('candidate-stage', () => {
  test('recall of 1 where the whole graph is looked at, and a row a graph', async () => {
    const options = ['k=7', 'm=[2, 11]', 'efConstruction=[5, 40]', 'efSearch=[7, 200]'];
    const { figures, table } = await runStudy(createStudyCommand(candidateStage), 'candidate-stage', ...options);
    const points = figures.points as GraphPoint[];
    expect(points.map(({ m, efConstruction, efSearch }) => [m, efConstruction, efSearch])).toEqual(
      [2, 11].flatMap((m) => [5, 40].flatMap((build) => [7, 200].map((search) => [m, build, search]))),
    );
    for (const { recall, milliseconds } of points) {
      expect(recall > 0.2 && recall <= 1).toBe(true);
      expect(milliseconds).toBeGreaterThan(0);
    }
    expect(
      points.find(({ m, efConstruction, efSearch }) => m === 11 && efConstruction === 40 && efSearch === 200)?.recall,
    ).toBe(1);
    expect(table.match(/^\| M \d+, efConstruction \d+ +\|/gm)).toHaveLength(4);
  });

  test('settings that cannot be are refused before any work', async () => {
    const wrong = createStudyCommand(candidateStage)(['--set', 'm=[0.5]', '--set', 'efSerch=[10]']);
    await expect(wrong).rejects.toThrow(ConfigurationError);
    await expect(wrong).rejects.toThrow(/2 errors in the settings[\s\S]*efSearch/);
  });
});
