import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { computeJaccard, MinHasher } from './min-hash.ts';

/** Shingles and their overlap by sets of texts. */
function compareTexts(a: string, b: string): number {
  const [first, second] = [a, b].map((text) => {
    const padded = ` ${text} `;
    return new Set(Array.from({ length: padded.length - 2 }, (_, i) => padded.slice(i, i + 3)));
  }) as [Set<string>, Set<string>];
  const shared = [...first].filter((shingle) => second.has(shingle)).length;
  return shared / (first.size + second.size - shared);
}

const random = createRandom(7, 'min-hash-test');
const drawText = (length: number) => Array.from({ length }, () => 'abcde '[random.integer(6)] as string).join('');

test('the similarity of signatures is that of the sets of trigrams', () => {
  const hasher = new MinHasher();
  for (let i = 0; i < 100; i++) {
    const [a, b] = [drawText(1 + random.integer(23)), drawText(1 + random.integer(23))];
    expect(computeJaccard(hasher.sign(a).shingles, hasher.sign(b).shingles)).toBeCloseTo(compareTexts(a, b), 12);
  }
  expect(computeJaccard(Int32Array.of(), Int32Array.of())).toBe(0);
});

test('similar texts share a bucket as often as their similarity says, others rarely', () => {
  const counts = { similar: 0, found: 0, apart: 0, wrong: 0 };
  const hasher = new MinHasher();
  for (let i = 0; i < 400; i++) {
    const text = drawText(29);
    const other = i % 2 === 0 ? text.slice(0, 25) + drawText(4) : drawText(29);
    const similarity = compareTexts(text, other);
    const [a, b] = [hasher.sign(text).buckets, hasher.sign(other).buckets];
    const shares = a.some((bucket, band) => bucket === b[band]);
    if (similarity > 0.6) {
      counts.similar++;
      if (shares) counts.found++;
    } else if (similarity < 0.15) {
      counts.apart++;
      if (shares) counts.wrong++;
    }
  }
  expect(counts.similar).toBeGreaterThan(100);
  expect(counts.apart).toBeGreaterThan(50);
  expect(counts.found / counts.similar).toBeGreaterThan(0.97);
  // 1 - (1 - .15^3)^32
  expect(counts.wrong / counts.apart).toBeLessThan(0.11);
});

test('buckets depend on the text and the seed alone', () => {
  const [first, second] = [new MinHasher(3), new MinHasher(3)];
  const texts = ['rome', 'carthage', 'roma', 'x', ''];
  const buckets = texts.map((text) => first.sign(text).buckets);
  expect([...texts].reverse().map((text) => second.sign(text).buckets)).toEqual([...buckets].reverse());
  expect(new MinHasher(4).sign('rome').buckets).not.toEqual(buckets[0]);
});
