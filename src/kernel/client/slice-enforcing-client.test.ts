import { describe, expect, test } from 'vitest';
import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { formatPolicyRef } from '../policies/policy-ref.ts';
import { buildPolicy } from '../policies/slices.fixture.ts';
import { findReason } from '../signatures/refusals.harness.ts';
import type { SliceRequestInput } from '../signatures/slice-export.ts';
import type { ScopedTurn } from '../slices/slice-search.ts';
import { corpus, kernel, levelled, openClient, openIndex, openKernel, policy, query } from './enforcement.harness.ts';
import type { SliceEnforcingClientOptions } from './slice-enforcing-client.ts';

/** A kernel that notes what it was asked for. */
function noteRequests(of = kernel) {
  const requests: SliceRequestInput[] = [];
  const slice = (request: SliceRequestInput) => {
    requests.push(request);
    return of.slice(request);
  };
  return { requests, authority: { slice, verify: kernel.verify.bind(kernel) } };
}

test('a query gets the best turns of its slice, with rank and provenance', async () => {
  const { authority, requests } = noteRequests();
  const { turns, sliceExport, refinedExport, queryId } = await openClient({ authority }).search(query);
  expect(requests).toEqual([
    {
      policyRef: formatPolicyRef(policy),
      scope: { anchorTurnId: query.scope.anchorTurnId, conversationId: null, author: null, channel: null },
      asOf: query.asOf,
      refine: null,
    },
  ]);
  expect([queryId, refinedExport]).toEqual(['q1', null]);
  expect(turns.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(turns.every(({ turnId }) => sliceExport.turnIds.includes(turnId))).toBe(true);
  expect(turns[0]?.provenance).toEqual({ level: 'first', fingerprint: sliceExport.fingerprint });

  const index = openIndex();
  const size = corpus.size;
  const batch = { texts: [query.text], vectors: query.vector, cutoffs: Int32Array.of(size) };
  const all = await index.search(batch, size);
  const allowed = [...all.positions]
    .map((p) => corpus.turns[p]?.id as string)
    .filter((id) => sliceExport.turnIds.includes(id));
  expect(turns.map(({ turnId }) => turnId)).toEqual(allowed.slice(0, 7));
});

test('a policy of two levels: the second slice is refined around the first results, and both are searched', async () => {
  const { authority, requests } = noteRequests();
  const index = openIndex();
  const { turns, sliceExport, refinedExport } = await openClient({ authority, index, policy: levelled }).search({
    ...query,
    k: 24,
  });
  expect(index.searches).toBe(2);
  const around = requests[1]?.refine?.around as string[];
  expect(around.length).toBe(levelled.hierarchy?.around);
  expect(around.every((id) => sliceExport.turnIds.includes(id))).toBe(true);
  const both = [...sliceExport.turnIds, ...(refinedExport?.turnIds ?? [])];
  expect(turns.map(({ turnId }) => turnId).toSorted()).toEqual(both.toSorted());
  const refined = turns.filter(({ provenance }) => provenance.level === 'refined');
  expect(refined.map(({ turnId }) => turnId).toSorted()).toEqual(refinedExport?.turnIds);
  expect(refined.length).toBeGreaterThan(0);
  expect(refined[0]?.provenance.fingerprint).toBe(refinedExport?.fingerprint);
});

test('a query without an anchor is not refined, and a policy may refuse it', async () => {
  const all = buildPolicy({ id: 'levelled', hierarchy: {}, unanchored: 'all' });
  const authority = openKernel({ policies: [all] });
  const { sliceExport, refinedExport } = await openClient({ authority, policy: all }).search({
    ...query,
    scope: {},
  });
  expect([sliceExport.anchorTurnId, refinedExport]).toEqual([null, null]);
  expect(await findReason(openClient().search({ ...query, scope: {} }))).toBe('no-anchor');
});

describe('a reranking', () => {
  const search = (rerank: NonNullable<SliceEnforcingClientOptions['rerank']>, depth = 12) =>
    openClient({ rerank, depth }).search({ ...query, k: 3 });

  test('gets as many turns as the depth, and decides the order', async () => {
    let given: readonly ScopedTurn[] = [];
    const { turns } = await search((_, found) => {
      given = [...found];
      return found.map(({ turnId }, i) => ({ turnId, score: i })).reverse();
    });
    expect(given.length).toBe(12);
    expect(turns.map(({ turnId }) => turnId)).toEqual(
      given
        .map(({ turnId }) => turnId)
        .toReversed()
        .slice(0, 3),
    );
    expect(turns.map(({ score }) => score)).toEqual([11, 10, 9]);
  });

  test('that repeats a turn, or has a score that is not finite, is refused', async () => {
    await expect(search((_, found) => [...found, ...found])).rejects.toThrow(ValidationError);
    await expect(search((_, found) => found.map((turn) => ({ ...turn, score: Number.NaN })))).rejects.toThrow(
      NotFiniteError,
    );
  });
});

test('latencies are those of the timer, by part', async () => {
  let now = 0;
  const readTimer = () => now;
  const tick = (ms: number) => {
    now += ms;
  };
  const authority = {
    slice: (request: SliceRequestInput) => {
      tick(3);
      return kernel.slice(request);
    },
    verify: kernel.verify.bind(kernel),
  };
  const found = corpus.turns.slice(28, 31).map(({ id }, i) => ({ turnId: id, score: 1 / (i + 1) }));
  const client = openClient({
    ...{ authority, policy: levelled, readTimer },
    search: async (_, { turnIds }) => {
      tick(5);
      return found.filter(({ turnId }) => turnIds.has(turnId));
    },
    rerank: (_, turns) => {
      tick(7);
      return turns;
    },
  });
  const { latencyMs } = await client.search(query);
  expect(latencyMs).toEqual({ slice: 6, verify: 0, search: 10, rerank: 7, total: 23 });
});

test.each([0, 1.5, Number.NaN])('k = %f is refused', async (k) => {
  await expect(openClient().search({ ...query, k })).rejects.toThrow(/^k is not a positive integer/);
});
