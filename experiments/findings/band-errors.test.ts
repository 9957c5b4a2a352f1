import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../src/core/numbers/random.ts';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { buildDayCorpus } from '../conservation-drift/corpus.fixture.ts';
import { measureBandErrors } from './band-errors.ts';
import { computeHandmadePowers, type PUBLISHED, splitMatrixRows } from './measured-corpus.fixture.ts';
import { buildMeasuredCorpus } from './measured-corpus.ts';

beforeAll(() => useBackend('wasm'));

const [TURNS, D] = [101, 5];
const source = createRandom(4, 'band-errors.test');
const rows = Array.from({ length: TURNS }, () => {
  const row = Array.from({ length: D }, () => source.drawNormal());
  return row.map((value) => value / Math.hypot(...row));
});
const vectors = Float32Array.from(rows.flat());
const measured = buildMeasuredCorpus(buildDayCorpus(rows.map((_, i) => ['c', i])), vectors, D);

const CHOICES: Readonly<Record<string, Partial<typeof PUBLISHED>>> = {
  published: {},
  'published, looking back': { looks: 'back' },
  'framework default': { combine: 'additive', self: 'exclude', decay: 1, temperature: 1 },
};

function computeOutput(powers: readonly number[]): number[] {
  const mass = powers.reduce((a, b) => a + b, 0);
  return Array.from({ length: D }, (_, d) =>
    powers.reduce((sum, p, j) => sum + (p / mass) * (rows[j]?.[d] as number), 0),
  );
}

/** What a band of the width is off by in float64 at the chosen rows, each key beyond it counting 1 or nothing. */
function measureBandErrorInDouble(choice: Partial<typeof PUBLISHED>, width: number, places: readonly number[]): number {
  const exact = computeHandmadePowers(splitMatrixRows(vectors, D), choice);
  const far = choice.combine === 'additive' ? 0 : 1;
  const errors = places.map((i) => {
    const powers = exact[i] as number[];
    const banded = powers.map((power, j) => {
      const distance = Math.min(Math.abs(i - j), TURNS - Math.abs(i - j));
      return distance > width && power > 0 ? far : power;
    });
    const right = computeOutput(powers);
    return Math.hypot(...computeOutput(banded).map((value, d) => value - (right[d] as number)));
  });
  return Math.max(...errors);
}

test('the error that is found is that of the band, and within the bound', async () => {
  const errors = await measureBandErrors(measured, { tolerances: [0.3, 1e-2], sampledMessages: 5 });
  expect(errors.map(({ attention, band }) => [attention, band?.tolerance])).toEqual(
    Object.keys(CHOICES).flatMap((name) => [0.3, 1e-2, undefined].map((tolerance) => [name, tolerance])),
  );
  for (const { attention, band, observed } of errors) {
    if (band === null) {
      expect(observed).toBeLessThan(1e-6);
      continue;
    }
    const expected = measureBandErrorInDouble(
      CHOICES[attention] as Partial<typeof PUBLISHED>,
      band.width,
      [0, 25, 50, 75, 100],
    );
    expect(Math.abs(observed - expected)).toBeLessThan(1e-6);
    expect(observed).toBeLessThanOrEqual(band.bound);
    expect(band.bound).toBeLessThanOrEqual(band.tolerance);
  }
  expect(errors[0]?.observed).toBeGreaterThan(1e-4);
});
