import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { averageTokens, computeTokenMaxima, focusTokens, standardiseMaxima, takeNearest } from './late-interaction.ts';

const { NaN: NONE } = Number;

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('a maximum is the largest product with a token of the turn, none for a turn without tokens', async () => {
    const source = createRandom(3, 'tokens');
    const draw = (rows: number) => Float32Array.from({ length: rows * 5 }, () => source.drawNormal());
    const [vectors, question] = [draw(9), draw(4)];
    const starts = Int32Array.of(0, 3, 3, 7, 9);
    const maxima = await computeTokenMaxima({ vectors, starts, dimension: 5 }, question);
    const expected = [0, 1, 2, 3].flatMap((turn) =>
      [0, 1, 2, 3].map((t) => {
        const products: number[] = [];
        for (let token = starts[turn] as number; token < (starts[turn + 1] as number); token++)
          products.push([0, 1, 2, 3, 4].reduce((sum, d) => sum + vectors[token * 5 + d]! * question[t * 5 + d]!, 0));
        return products.length === 0 ? NONE : Math.max(...products);
      }),
    );
    for (const [i, value] of expected.entries())
      if (Number.isNaN(value)) expect(maxima[i]).toBeNaN();
      else expect(maxima[i]).toBeCloseTo(value, 5);
  });

  test('scales of rows count as if the rows were scaled', async () => {
    const source = createRandom(5, 'scales');
    const draw = (count: number) => Float32Array.from({ length: count }, () => source.uniform() - 0.5);
    const [vectors, question, scales] = [draw(7 * 3), draw(2 * 3), draw(7).map(Math.abs)];
    const [starts, dimension] = [Int32Array.of(0, 2, 2, 7), 3];
    const maxima = await computeTokenMaxima({ vectors, scales, starts, dimension }, question);
    const scaled = vectors.map((value, i) => value * scales[Math.floor(i / 3)]!);
    const expected = await computeTokenMaxima({ vectors: scaled, starts, dimension }, question);
    for (const [i, value] of expected.entries())
      if (Number.isNaN(value)) expect(maxima[i]).toBeNaN();
      else expect(maxima[i]).toBeCloseTo(value, 6);
  });

  test('turns without any token have none, and a question of another dimension is refused', async () => {
    const empty = { vectors: new Float32Array(0), starts: Int32Array.of(0, 0, 0), dimension: 3 };
    expect([...(await computeTokenMaxima(empty, Float32Array.of(1, 0, 0)))]).toEqual([NONE, NONE]);
    for (const question of [new Float32Array(0), new Float32Array(4)])
      await expect(computeTokenMaxima(empty, question)).rejects.toThrow(ValidationError);
  });
});

/** [3, 2] of three turns and two tokens; the second turn has none, and the second token fits all turns alike. */
const MAXIMA = Float32Array.of(0.25, 0.5, NONE, NONE, 0.75, 0.5);

test('a token that fits every turn alike says nothing, and a turn without tokens has no score', () => {
  const standardised = standardiseMaxima(MAXIMA, 2);
  expect([...standardised]).toEqual([-1, 0, NONE, NONE, 1, 0]);
  expect([...averageTokens(standardised, 2)]).toEqual([-0.5, NONE, 0.5]);
  expect([...focusTokens(standardised, 2)]).toEqual([0, NONE, 0.5]);
});

test('products that differ by rounding alone are equal', () => {
  const maxima = Float32Array.of(0.7, 0.7 + 1e-7, 0.7 - 1e-7, 0.7 + 2e-7);
  expect([...standardiseMaxima(maxima, 1)].map(Math.abs)).toEqual([0, 0, 0, 0]);
});

test('the mean over tokens is weighted, and 0 where no token counts', () => {
  expect([...averageTokens(MAXIMA, 2)]).toEqual([0.375, NONE, 0.625]);
  expect([...averageTokens(MAXIMA, 2, [3, 1])]).toEqual([0.3125, NONE, 0.6875]);
  expect([...averageTokens(MAXIMA, 2, [0, 0])]).toEqual([0, NONE, 0]);
});

test('the nearest score is the largest of a turn and its neighbours', () => {
  const scores = Float64Array.of(1, NONE, 3, 2);
  expect([...takeNearest(scores, (turn) => [turn - 1, turn + 1])]).toEqual([1, 3, 3, 3]);
  expect([...takeNearest(Float64Array.of(NONE, NONE), (turn) => [1 - turn])]).toEqual([NONE, NONE]);
});
