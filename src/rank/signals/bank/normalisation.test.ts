import { expect, test } from 'vitest';
import { createRandom } from '../../../core/numbers/random.ts';
import { standardiseQuestions } from './normalisation.ts';

/** The same for one query and one signal, in plain loops. */
function standardise(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  return values.map((value) => Math.fround(Math.min(12, Math.max(-8, (value - mean) / deviation))));
}

test('each question by its own candidates, for the chosen columns in their order', () => {
  const [queries, width, stride] = [5, 7, 3];
  const stream = createRandom(3, 'standardised questions');
  const values = Float32Array.from(
    { length: queries * width * stride },
    (_, i) => 40 * (i % stride) + stream.drawNormal(),
  );
  const mask = Uint8Array.from({ length: queries * width }, (_, pair) =>
    Number(pair % width < 3 + Math.floor(pair / width)),
  );
  const columns = [2, 0];
  const found = standardiseQuestions({ values, stride, columns, width, mask });
  for (let query = 0; query < queries; query++)
    for (const [f, column] of columns.entries()) {
      const read = (slot: number) => values[(query * width + slot) * stride + column] as number;
      const own = Array.from({ length: width }, (_, slot) => found[(query * width + slot) * columns.length + f]);
      const expected = standardise(Array.from({ length: 3 + query }, (_, slot) => read(slot)));
      expect(own).toEqual([...expected, ...new Array<number>(width - expected.length).fill(0)]);
    }
});

test('a constant signal is 0, also with the rounding of float32, and so is a question without candidates', () => {
  const values = Float32Array.of(7, 0.1, 7, Math.fround(0.1 + 1e-8), 7, 0.1, 9, 9, 9, 9, 9, 9);
  const mask = Uint8Array.of(1, 1, 1, 0, 0, 0);
  const found = standardiseQuestions({ values, stride: 2, columns: [0, 1], width: 3, mask });
  expect([...found]).toEqual(new Array<number>(12).fill(0));
});

test('values far from the others are clipped to -8 and 12', () => {
  const values = Float32Array.from({ length: 400 }, (_, i) => ({ 3: 1, 250: -1 })[i] ?? 0);
  const mask = new Uint8Array(400).fill(1);
  const found = standardiseQuestions({ values, stride: 1, columns: [0], width: 200, mask });
  expect([found[3], found[250]]).toEqual([12, -8]);
});
