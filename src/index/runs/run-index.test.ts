import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { CandidateIndex, QueryBatch } from '../../model/candidates.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { ContractCorpus } from '../candidates/contract-sample.fixture.ts';
import { describeVisibility } from '../candidates/visibility-contract.harness.ts';
import { createIndex } from '../registry.ts';
import { hashRunFile } from './run-options.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-run-index-'));
afterAll(() => rmSync(root, { recursive: true }));

const corpus = new Corpus(
  Array.from({ length: 7 }, (_, i) => ({
    id: `t${i}`,
    conversationId: 'c',
    parentId: null,
    timestamp: i,
    author: null,
    channel: null,
    text: 'word',
  })),
);
const context = { corpus, vectors: new Float32Array(0), dimension: 0, seed: 1 };
let written = 0;

function write(text: string): string {
  const path = join(root, `${written++}.trec`);
  writeFileSync(path, text);
  return path;
}

/** @param cutoffs by query. */
async function search(text: string, cutoffs: Readonly<Record<string, number>>, k = 3) {
  const index = await createIndex({ index: 'run', path: write(text), k }, context);
  const ids = Object.keys(cutoffs);
  const batch = {
    ids,
    texts: ids.map(() => ''),
    vectors: new Float32Array(0),
    cutoffs: Int32Array.from(Object.values(cutoffs)),
  };
  const { positions, scores } = await index.search(batch, k);
  return { positions: [...positions], scores: [...scores] };
}

/** Of each query a ranking of all turns before its cutoff. */
function makeRanking({ ids }: ContractCorpus, queries: QueryBatch): Promise<CandidateIndex> {
  const turns = ids.map((id, timestamp) => ({ ...(corpus.turns[0] as Turn), id, timestamp }));
  const rankings = queries.ids?.map((query, q) => {
    const ranking = ids
      .slice(0, queries.cutoffs[q])
      .map((id, position) => ({ id, score: ((position * 37 + q) % 101) / 7 }));
    return JSON.stringify({ query, ranking });
  });
  const path = write(`${rankings?.join('\n')}\n`);
  return createIndex({ index: 'run', path, k: ids.length }, { corpus: new Corpus(turns) });
}

describeVisibility('run', makeRanking);

test('a line of a later turn is refused though a list hides the turn', async () => {
  const index = await createIndex({ index: 'run', path: write('q1 Q0 t1 1 9 s\nq1 Q0 t6 2 8 s\n'), k: 3 }, context);
  const batch = { ids: ['q1'], texts: [''], vectors: new Float32Array(0), cutoffs: Int32Array.of(5) };
  await expect(index.search({ ...batch, visible: [Int32Array.of(0, 1)] }, 3)).rejects.toThrow(
    /trec:2 is not earlier than query q1: t6/,
  );
});

describe('rankings of another system', () => {
  test('are candidates by score, then by id descending, at most k; a query without lines has none', async () => {
    const text = 'q1 Q0 t1 1 5 s\nq1 Q0 t4 2 9 s\nq1 Q0 t2 3 5 s\nq1 Q0 t0 4 -1 s\nq9 Q0 t6 1 1 s\n';
    expect(await search(text, { q1: 5, q2: 5 })).toEqual({
      positions: [4, 2, 1, -1, -1, -1],
      scores: [9, 5, 5, 0, 0, 0],
    });
  });

  test('of JSONL without scores keep their order', async () => {
    const { positions } = await search('{"query": "q1", "ranking": ["t3", "t0", "t5"]}\n', { q1: 7 });
    expect(positions).toEqual([3, 0, 5]);
  });

  test.each([
    ['q1 Q0 t5 1 9 s', /^turn at .*trec:1 is not earlier than query q1: t5; remove the line/],
    ['q1 Q0 t1 1 9 s\nq1 Q0 t5 2 8 s\nq1 Q0 t0 3 7 s\nq1 Q0 t6 4 6 s', /trec:2 is not earlier than query q1: t5/],
    // Beyond the first k, too: what a system saw cannot depend on how much of it is used.
    ['q1 Q0 t1 1 9 s\nq1 Q0 t2 2 8 s\nq1 Q0 t0 3 7 s\nq1 Q0 t6 4 6 s', /trec:4 is not earlier than query q1: t6/],
    ['q1 Q0 t1 1 9 s\nq1 Q0 x1 2 8 s', /^turn at .*trec:2 is not in the data that query q1 asks: x1; use ids/],
    ['q1 Q0 t1 1 9 s\nq1 Q0 t1 2 8 s', /^query q1 repeats a turn at .*trec:2: t1; list it once/],
    ['q1 Q0 t1 1 nan s', /^score of turn t1 at .*trec:1 is not finite: NaN; write a number/],
  ])('%j is refused, naming the line', async (text, message) => {
    await expect(search(text, { q1: 5 })).rejects.toThrow(message);
  });

  test('a file that changed after its hash was taken is refused', async () => {
    const path = write('q1 Q0 t1 1 9 s\n');
    const hash = hashRunFile({ path });
    writeFileSync(path, 'q1 Q0 t2 1 9 s\n');
    const made = createIndex({ index: 'run', path, k: 3, hash }, context);
    await expect(made).rejects.toThrow(/^run file has changed since the config was read: .*; run the config again/);
  });

  test('queries without ids are refused', async () => {
    const index = await createIndex({ index: 'run', path: write('q1 Q0 t1 1 9 s\n'), k: 3 }, context);
    const batch = { texts: [''], vectors: new Float32Array(0), cutoffs: Int32Array.of(3) };
    await expect(index.search(batch, 3)).rejects.toThrow(/^index run needs the ids of 1 queries; pass ids$/);
  });
});
