import { Matrix, SVD } from 'ml-matrix';
import { beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { expectEventsLetIn } from '../../core/terminal/slow-progress.harness.ts';
import { LSA_DEFAULTS, lsaIdentity } from './encoder-options.ts';
import { fitLsa } from './lsa.ts';

/** Texts of 23 words, each text leaning to one of five topics of 17 words. */
function drawLsaTexts(count: number): string[] {
  const stream = createRandom(13, 'texts');
  return Array.from({ length: count }, (_, text) =>
    Array.from({ length: 23 }, () => {
      const topic = stream.uniform() < 0.7 ? text % 5 : stream.integer(5);
      return `topic${topic}word${Math.floor(17 * stream.uniform() ** 2)}`;
    }).join(' '),
  );
}

/** TF-IDF by its formula over the words as they stand, as a dense matrix; rows of length 1. */
function computeDenseTfIdf(texts: readonly string[]): Matrix {
  const lists = texts.map((text) => text.split(' '));
  const terms = [...new Set(lists.flat())].map((term) => ({
    term,
    df: lists.filter((list) => list.includes(term)).length,
  }));
  const kept = terms.filter(({ df }) => df >= 2 && df <= 0.5 * texts.length);
  return new Matrix(
    lists.map((list) => {
      const row = kept.map(({ term, df }) => {
        const count = list.filter((word) => word === term).length;
        return count === 0 ? 0 : (1 + Math.log(count)) * (Math.log((1 + texts.length) / (1 + df)) + 1);
      });
      const length = Math.hypot(...row) || 1;
      return row.map((value) => value / length);
    }),
  );
}

function cosine(rows: Float32Array, dimension: number, i: number, j: number): number {
  let sum = 0;
  for (let d = 0; d < dimension; d++) sum += rows[i * dimension + d]! * rows[j * dimension + d]!;
  return sum;
}

const OPTIONS = { ...LSA_DEFAULTS, dimension: 11, seed: 3 };

beforeAll(async () => void (await useBackend('wasm')));

describe('lsa', () => {
  const texts = drawLsaTexts(71);

  test('cosines between fitted texts are those of the full decomposition', async () => {
    const encoder = await fitLsa(texts, OPTIONS);
    const rows = await encoder.encode(texts);
    const svd = new SVD(computeDenseTfIdf(texts), { autoTranspose: true });
    const own = svd.leftSingularVectors.subMatrix(0, 70, 0, 10).mulRowVector(svd.diagonal.slice(0, 11)); // U diag(σ)
    for (let i = 0; i < texts.length; i += 7) {
      for (let j = 0; j < texts.length; j += 3) {
        const [a, b] = [own.getRowVector(i), own.getRowVector(j)];
        expect(cosine(rows, 11, i, j)).toBeCloseTo(a.dot(b) / (a.norm() * b.norm()), 2);
      }
    }
  });

  test('rows have length 1, or are zero for a text without a known word', async () => {
    const rows = await (await fitLsa(texts, OPTIONS)).encode([texts[0]!, 'nothing known', '', texts[4]!.slice(0, 40)]);
    expect(rows.length).toBe(4 * 11);
    expect([0, 1, 2, 3].map((i) => Number(cosine(rows, 11, i, i).toFixed(5)))).toEqual([1, 0, 0, 1]);
  });

  test('a text is folded in the same way alone, among others, fitted or not', async () => {
    const encoder = await fitLsa(texts, OPTIONS);
    const all = await encoder.encode(texts);
    expect(await encoder.encode([texts[19]!])).toEqual(all.slice(19 * 11, 20 * 11));
    const words = texts[19]!.split(' ').reverse().join(' ');
    const reversed = await encoder.encode([words]);
    for (let d = 0; d < 11; d++) expect(reversed[d]).toBeCloseTo(all[19 * 11 + d]!, 5);
  });

  test('encoding lets events in', async () => {
    const encoder = await fitLsa(texts, OPTIONS);
    const many = Array.from({ length: 7 }, () => texts).flat();
    await expectEventsLetIn((slowly) => encoder.encode(many, slowly));
  });

  test('fewer directions than asked for are a smaller dimension that the identity and a remark tell', async () => {
    const encoder = await fitLsa(texts, { ...OPTIONS, dimension: 512 });
    const directions = Math.min(71, computeDenseTfIdf(texts).columns);
    expect(encoder.dimension).toBe(directions);
    expect(encoder.identity.dimension).toBe(directions);
    expect(encoder.remarks).toEqual([expect.stringMatching(new RegExp(`^lsa has ${directions} dimensions: .* 512$`))]);
    expect((await encoder.encode(texts.slice(0, 3))).length).toBe(3 * directions);
    expect((await fitLsa(texts, OPTIONS)).remarks).toEqual([]);
  });

  test('empty and repeated texts leave fewer directions than texts, as many as the full decomposition has', async () => {
    const some = drawLsaTexts(337).map((text) => `${text} ${text.length % 2 ? 'odd' : 'even'}`);
    const own = some.map((text, i) => `${text} pair${i >> 1} mate${(i * 7) % 167}`);
    const texts = [...own, ...own.slice(0, 11), '', 'nothing', 'alone'];
    const full = computeDenseTfIdf(texts);
    const values = new SVD(full, {
      autoTranspose: true,
      computeLeftSingularVectors: false,
      computeRightSingularVectors: false,
    }).diagonal;
    const directions = values.filter((value) => value > 1e-3 * values[0]!).length;
    expect(directions).toBeLessThan(338);
    const encoder = await fitLsa(texts, { ...OPTIONS, dimension: 512, oversampling: 28 });
    expect(encoder.dimension).toBe(directions);
    const rows = await encoder.encode(texts);
    for (const i of [0, 13, 61, 340]) {
      for (const j of [2, 29, 101]) {
        expect(cosine(rows, directions, i, j)).toBeCloseTo(full.getRowVector(i).dot(full.getRowVector(j)), 2);
      }
    }
  });

  test('the identity tells the fitted texts and every option apart', async () => {
    const identities = await Promise.all([
      fitLsa(texts, OPTIONS),
      fitLsa(texts.slice(1), OPTIONS),
      fitLsa(texts, { ...OPTIONS, powerIterations: 1 }),
      fitLsa(texts, { ...OPTIONS, seed: 4 }),
    ]);
    expect(new Set(identities.map(({ identity }) => JSON.stringify(identity))).size).toBe(4);
  });

  test('texts that share no term are refused', async () => {
    await expect(fitLsa(['one two', 'three four'], OPTIONS)).rejects.toThrow(ValidationError);
    await expect(fitLsa([], OPTIONS)).rejects.toThrow(
      'lsa: no term occurs, since it has no texts to be fitted on: 0 given; pass fitTexts',
    );
  });
});

test('the identity has the hash of the fitted texts, however many there are', () => {
  const settings = { ...LSA_DEFAULTS, dimension: 5, seed: 7 };
  const texts = [...drawLsaTexts(401), 'half a pair: \ud83d', '"quoted"'];
  for (const fitted of [texts, texts.slice(0, 1), []])
    expect(lsaIdentity(fitted, settings).fittedOn).toBe(computeHash(fitted));
  const long = 'eggs'.repeat(2 ** 18); // 2^20 characters; a string has fewer than 2^29
  expect(lsaIdentity(Array<string>(513).fill(long), settings).fittedOn).toMatch(/^[0-9a-f]{64}$/);
});
