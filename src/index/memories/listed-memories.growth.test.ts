import { expect, test } from 'vitest';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import type { CandidateIndex, QueryBatch } from '../../model/candidates.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { canGrow, type IndexContext } from '../candidates/index-definition.ts';
import { createIndex } from '../registry.ts';
import { drawMemories, drawQuestion, GROWING_SOURCES } from './growing-memories.fixture.ts';

const COUNT = 97;
const NO_VECTORS = { vectors: new Float32Array(0), dimension: 0, seed: 1 };

function describeContext(corpus: Corpus, isGiven: boolean): IndexContext {
  const entities = corpus.turns.map(({ attributes }) => (attributes?.entities ?? []) as readonly string[]);
  return { corpus, ...NO_VECTORS, ...(isGiven && { entities }) };
}

/** Questions at several moments, some of which may see a part of the turns alone. */
function drawBatch(size: number, source: Random): QueryBatch {
  const cutoffs = Int32Array.from({ length: 13 }, () => source.integer(size + 1));
  const positions = Int32Array.from(Array(size).keys());
  return {
    texts: Array(cutoffs.length).fill('x'),
    vectors: new Float32Array(0),
    cutoffs,
    visible: Array.from(cutoffs, (cutoff, query) =>
      query % 3 === 0 ? positions.filter((position) => position < cutoff && source.integer(2) === 0) : null,
    ),
    asked: Array.from(cutoffs, () => drawQuestion(size / 3, source)),
  };
}

async function growIndex(index: CandidateIndex, context: IndexContext): Promise<void> {
  if (!canGrow(index)) throw new Error(`index does not grow: ${index.name}`);
  await index.growWith(context);
}

test.each(GROWING_SOURCES.flatMap((options) => [0, 1, 29].map((start) => ({ options, start, name: options.index }))))(
  '$name that grows from $start turns finds the same as a new one',
  async ({ options, start }) => {
    let found = 0;
    for (const isGiven of [false, true]) {
      const source = createRandom(start, `${options.index} ${isGiven}`);
      const turns = drawMemories(COUNT, source, 0);
      let corpus = new Corpus(turns.slice(0, start));
      const grown = await createIndex(options, describeContext(corpus, isGiven));
      while (corpus.size < COUNT) {
        const end = corpus.size + 1 + source.integer(11);
        corpus = new Corpus(turns.slice(corpus.size, end), { after: corpus });
        const context = describeContext(corpus, isGiven);
        await growIndex(grown, context);
        const fresh = await createIndex(options, context);
        const batch = drawBatch(corpus.size, source);
        const candidates = await grown.search(batch, 7);
        expect(candidates).toEqual(await fresh.search(batch, 7));
        found += candidates.positions.filter((position) => position >= 0).length;
        fresh.dispose();
      }
      grown.dispose();
    }
    expect(found).toBeGreaterThan(100);
  },
);

test.each(GROWING_SOURCES)('$index reads a turn once', async (options) => {
  const reads = new Map<string, number>();
  const turns = drawMemories(COUNT, createRandom(1, options.index), 0).map((turn): Turn => {
    const { attributes = {} } = turn;
    return Object.defineProperty({ ...turn }, 'attributes', {
      get: () => {
        reads.set(turn.id, (reads.get(turn.id) ?? 0) + 1);
        return attributes;
      },
    });
  });
  const before = new Corpus(turns.slice(0, 83));
  const grown = await createIndex(options, { corpus: before });
  const first = new Map(reads);
  expect(first.size).toBe(83);
  await growIndex(grown, { corpus: new Corpus(turns.slice(83), { after: before }), ...NO_VECTORS });
  expect(reads.size).toBe(COUNT);
  for (const [id, count] of first) expect(reads.get(id)).toBe(count);
});
