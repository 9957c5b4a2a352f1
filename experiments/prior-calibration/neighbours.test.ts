import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../src/core/numbers/random.ts';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { DEFAULT_K, findNeighbours } from './neighbours.ts';
import type { OutcomeSeries } from './outcome-series.ts';
import { drawNeighbourSeries } from './series.fixture.ts';
import { priorCalibrationSettings } from './settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-neighbours-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => useBackend('wasm'));

const WORDS = 'bread soup lentils flour yeast oven salt onion carrot butter sugar eggs cream apples garlic rice'.split(
  ' ',
);
const settings = priorCalibrationSettings.parse({ neighbours: [7], embedding: { encoder: 'lsa', dimension: 5 } });
const context = { cacheFolder: folder, progress: ignoreProgress };

function drawSeries(): OutcomeSeries {
  const random = createRandom(3, 'neighbours.test');
  const { series } = drawNeighbourSeries({ turns: 61, rates: [0.5, 0.5, 0.5], width: 1 });
  const drawText = () => Array.from({ length: 7 }, () => WORDS[random.integer(WORDS.length)]).join(' ');
  return { ...series, turns: series.turns.map((turn) => ({ ...turn, text: drawText() })) };
}

test('neighbours are turns whose outcome is known, and later test turns do not change them', async () => {
  const series = drawSeries();
  const { neighbours, observed } = await findNeighbours(series, settings, context);
  expect(neighbours.width).toBe(DEFAULT_K);
  for (const [slot, position] of neighbours.positions.entries())
    expect(position).toBeLessThan(observed[Math.floor(slot / DEFAULT_K)] as number);
  const changed = series.turns.map((turn, i) => (i === 50 ? { ...turn, text: 'bread bread bread soup' } : turn));
  const other = await findNeighbours({ ...series, turns: changed }, settings, context);
  expect(other.neighbours.positions.subarray(0, 50 * DEFAULT_K)).toEqual(
    neighbours.positions.subarray(0, 50 * DEFAULT_K),
  );
  expect(other.neighbours.scores.subarray(0, 50 * DEFAULT_K)).toEqual(neighbours.scores.subarray(0, 50 * DEFAULT_K));
  const own = [50 * DEFAULT_K, 51 * DEFAULT_K] as const;
  expect(other.neighbours.scores.subarray(...own)).not.toEqual(neighbours.scores.subarray(...own));
});
