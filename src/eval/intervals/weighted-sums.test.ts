import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { createWeightedSums } from './weighted-sums.ts';

test.each([1, 7, 8, 17])('sums of %d columns are those of a loop over the groups, to the last digit', (count) => {
  const stream = createRandom(3, 'weighted-sums test');
  const columns = Array.from({ length: count }, () => Float64Array.from({ length: 23 }, () => stream.drawNormal()));
  const sumsWith = createWeightedSums(columns);
  for (let draw = 0; draw < 3; draw++) {
    const weights = Float64Array.from({ length: 23 }, () => stream.integer(4));
    const expected = columns.map((column) => {
      let sum = 0;
      for (let group = 0; group < 23; group++) sum += (weights[group] as number) * (column[group] as number);
      return sum;
    });
    const found: number[] = [];
    sumsWith(weights, (column, sum) => {
      found[column] = sum;
    });
    expect(found).toEqual(expected);
  }
});

test('without columns nothing is called back', () => {
  createWeightedSums([])(new Float64Array(3), () => expect.unreachable());
});
