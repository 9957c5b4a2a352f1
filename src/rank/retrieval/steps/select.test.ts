import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../../core/tensors/backend.ts';
import { createTokenCounter } from '../../../model/text/tokens.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import { createSampleWorkspace, drawSampleWorld } from '../../signals/corpus.fixture.ts';
import { rank } from '../rank.ts';
import { retrieve } from '../retriever.ts';
import { parseSteps, type WrittenStep } from '../written-steps.ts';

beforeAll(() => useBackend('wasm'));
const world = drawSampleWorld(7, 101, 11, 3);
const corpus = new Corpus(world.turns);
const start: readonly WrittenStep[] = [{ search: { bm25: { k: 23 } } }];

/** The positions of each query's ranking, best first, and their scores. */
async function listRanked(list: readonly WrittenStep[]) {
  const workspace = createSampleWorkspace(world);
  const { pool, scores } = await retrieve(workspace, parseSteps(list));
  const { slots } = await rank(pool, scores, pool.width, () => 'pair');
  workspace.dispose();
  return Array.from({ length: pool.queryCount }, (_, query) =>
    [...slots.subarray(query * pool.width, (query + 1) * pool.width)]
      .filter((slot) => slot >= 0)
      .map((slot) => [
        pool.positions[query * pool.width + slot] as number,
        scores[query * pool.width + slot] as number,
      ]),
  );
}

/** The oracle: one text after the other. */
async function packByHand(ranked: number[][][], budget: number, goesOn: boolean) {
  const count = await createTokenCounter('words');
  return ranked.map((row) => {
    const kept: number[][] = [];
    let used = 0;
    for (const [position, score] of row as [number, number][]) {
      const size = count(corpus.turns[position]!.text);
      if (used + size <= budget) {
        kept.push([position, score]);
        used += size;
      } else if (!goesOn) break;
    }
    return kept;
  });
}

test.each([
  ['prefix', 17, false],
  ['greedy', 17, true],
  ['prefix', 1, false],
  ['greedy', 3, true],
])('the best texts within a budget, by %s of %i words', async (fill, tokens, goesOn) => {
  const whole = await listRanked(start);
  const packed = await listRanked([...start, { pack: { tokens, fill } }]);
  expect(packed).toEqual(await packByHand(whole, tokens, goesOn));
  expect(packed.flat().length).toBeLessThan(whole.flat().length);
});

test('a budget alone is a number, and one that holds everything changes nothing', async () => {
  expect(parseSteps([...start, { pack: 1_000_000 }]).pack).toEqual({
    tokens: 1_000_000,
    fill: 'prefix',
    counter: 'words',
  });
  expect(await listRanked([...start, { pack: 1_000_000 }])).toEqual(await listRanked(start));
});

test('what is left out stays out of a selection and of a second packing', async () => {
  const packed = await listRanked([...start, { pack: 17 }]);
  const selected = await listRanked([...start, { pack: 17 }, { select: { mmr: { k: 3 } } }]);
  const sorted = (rows: number[][][]) => rows.map((row) => row.map(([position]) => position).sort());
  expect(sorted(selected)).toEqual(sorted(packed));
  const twice = await listRanked([...start, { pack: 17 }, { pack: 9, as: 'small' }]);
  expect(twice).toEqual(await listRanked([...start, { pack: 9 }]));
});
