import { describe, expect, test } from 'vitest';
import { openVectorIndex } from '../index/vectors/registry.ts';
import type { QueryBatch } from '../model/candidates.ts';
import { Corpus } from '../model/turns/corpus.ts';
import type { VectorIndex } from '../model/vector-index.ts';
import {
  anchor,
  answerWith,
  asked,
  asOf,
  CountedIndex,
  corpus,
  kernel,
  keys,
  levelled,
  openClient,
  openIndex,
  openKernel,
  openVerifier,
  policy,
  publicKeys,
  query,
  turns,
  wide,
} from './client/enforcement.harness.ts';
import type { SliceEnforcingClientOptions } from './client/slice-enforcing-client.ts';
import { formatPolicyRef } from './policies/policy-ref.ts';
import { drawTurns, makeKeys } from './policies/slices.fixture.ts';
import type { AdmissibilityReason } from './signatures/admissibility-error.ts';
import { computeFingerprint, sortIds } from './signatures/fingerprint.ts';
import { type KernelKey, rotateKeys } from './signatures/kernel-keys.ts';
import { findReason } from './signatures/refusals.harness.ts';
import { Signer } from './signatures/signature.ts';
import type { SliceAuthority, SliceExport, SliceRequestInput } from './signatures/slice-export.ts';
import { searchCandidates, searchVectors } from './slices/slice-search.ts';

const hidden = corpus.turns.find(({ id }) => id === 't0002')!.id;
const other = corpus.turns[20]!.id;

/** A slice with other ids, and the fingerprint of these. */
const withIds = (slice: SliceExport, turnIds: string[]): SliceExport => ({
  ...slice,
  turnIds,
  fingerprint: computeFingerprint(turnIds),
});

/** What a client of the sample says to an authority, before it has searched anything. */
async function attack(authority: SliceAuthority, options: Partial<SliceEnforcingClientOptions> = {}, request = query) {
  const index = openIndex();
  const reason = await findReason(openClient({ authority, index, ...options }).search(request));
  expect(index.searches, 'the index is not searched').toBe(0);
  return reason;
}

test('without an attack the same client answers', async () => {
  const { sliceExport, turns: found } = await openClient().search(query);
  expect(found.length).toBe(query.k);
  expect(sliceExport.turnIds).not.toContain(hidden);
});

describe('a slice that was changed on its way', () => {
  test.each<[string, AdmissibilityReason, (slice: SliceExport) => unknown]>([
    ['tampered ids', 'signature', (slice) => withIds(slice, sortIds([...slice.turnIds.slice(1), hidden]))],
    [
      'tampered ids under the old fingerprint',
      'fingerprint',
      (slice) => ({ ...slice, turnIds: slice.turnIds.slice(1) }),
    ],
    ['reordered ids', 'order', (slice) => withIds(slice, slice.turnIds.toReversed())],
    ['an id twice', 'order', (slice) => withIds(slice, [slice.turnIds[0]!, ...slice.turnIds])],
    ['an unknown id', 'unknown-turn', (slice) => withIds(slice, [...slice.turnIds, 'x9999'])],
    ['a unicode twin of full width', 'twin', (slice) => withIds(slice, [`\uff54${hidden.slice(1)}`, ...slice.turnIds])],
    ['a unicode twin with an invisible letter', 'twin', (slice) => withIds(slice, [`${hidden}\u200b`])],
    ['another anchor', 'scope', (slice) => ({ ...slice, anchorTurnId: other })],
    ['another expiry', 'signature', (slice) => ({ ...slice, expiresAt: slice.expiresAt + 1 })],
    ['another moment', 'moment', (slice) => ({ ...slice, issuedAt: slice.issuedAt - 1 })],
    ['another token', 'signature', (slice) => ({ ...slice, admissibilityToken: '0'.repeat(64) })],
    ['a token without a valid signature', 'signature', (slice) => ({ ...slice, signature: '0'.repeat(128) })],
    ['extra keys', 'malformed', (slice) => ({ ...slice, alsoVisible: [hidden] })],
    ['an extra key __proto__', 'malformed', (slice) => JSON.parse(`{"__proto__":{},${JSON.stringify(slice).slice(1)}`)],
    ['a truncated response', 'malformed', ({ signature: _, ...slice }) => slice],
    ['a truncated text', 'malformed', (slice) => JSON.stringify(slice).slice(0, 400)],
    ['truncated ids', 'signature', (slice) => withIds(slice, slice.turnIds.slice(0, 3))],
  ])('%s', async (_, reason, change) => {
    expect(await attack(answerWith(change))).toBe(reason);
  });

  test('after it was verified', async () => {
    let reads = 0;
    const authority = answerWith((slice) => ({
      ...slice,
      get turnIds() {
        return reads++ === 0 ? slice.turnIds : [hidden];
      },
    }));
    const { turns: found, sliceExport } = await openClient({ authority }).search(query);
    expect(found.map(({ turnId }) => turnId)).not.toContain(hidden);
    expect(() => sliceExport.turnIds.push(hidden)).toThrow(TypeError);
  });
});

describe('a signed slice of something else', () => {
  /** A kernel that answers another question than it was asked. */
  const askInstead = (request: object, of = kernel): SliceAuthority => ({
    slice: (asked) => of.slice({ ...asked, ...request }),
    verify: (slice, at) => of.verify(slice, at),
  });

  test('of another anchor', async () => {
    expect(await attack(askInstead({ scope: { anchorTurnId: other } }))).toBe('scope');
  });

  test('of another person', async () => {
    const request = { ...query, scope: { anchorTurnId: anchor, author: 'a1' } };
    expect(await attack(askInstead({ scope: { anchorTurnId: anchor, author: 'a2' } }), {}, request)).toBe('scope');
  });

  test('of another policy', async () => {
    expect(await attack(askInstead({ policyRef: formatPolicyRef(wide) }))).toBe('policy');
  });

  test('of another moment', async () => {
    expect(await attack(askInstead({ asOf: asOf + 3_600_000 }))).toBe('moment');
  });

  test('of another corpus version', async () => {
    const elsewhere = openKernel({ corpus: new Corpus(turns.slice(1).map((turn) => ({ ...turn, parentId: null }))) });
    expect(await attack(elsewhere)).toBe('corpus');
  });

  test('replayed after the corpus grew', async () => {
    const grown = new Corpus(drawTurns(61));
    const verifier = openVerifier({ corpus: grown, earlierVersions: [kernel.corpusVersion] });
    expect(await attack(kernel, { verifier })).toBe('stale');
  });

  test('that expired, or is of the future', async () => {
    const old = await openKernel({ now: () => asOf }).slice({ policyRef: formatPolicyRef(policy), scope: query.scope });
    const replay = answerWith(() => old);
    const live = { ...query, asOf: null };
    const expiry = asOf + 300_000;
    for (const [clockToleranceSeconds, tolerance] of [
      [undefined, 1000],
      [0, 0],
      [2.5, 2500],
    ] as const) {
      const verifier = openVerifier({ ...(clockToleranceSeconds !== undefined && { clockToleranceSeconds }) });
      const useAt = (at: number) => attack(replay, { verifier, now: () => at }, live);
      expect(await useAt(expiry + tolerance)).toBe('expired');
      expect(await useAt(asOf - tolerance - 1)).toBe('not-yet-valid');
      for (const at of [asOf - tolerance, expiry + tolerance - 1]) {
        const { sliceExport } = await openClient({ authority: replay, verifier, now: () => at }).search(live);
        expect(sliceExport).toEqual(old);
      }
    }
    for (const wrong of [-1, 3601, Number.NaN])
      expect(() => openVerifier({ clockToleranceSeconds: wrong })).toThrow('clockToleranceSeconds of a verifier');
  });

  test('the clocks may not differ where the moment is named', async () => {
    const made = await kernel.slice({ policyRef: formatPolicyRef(policy), scope: query.scope, asOf });
    const verifier = openVerifier({ clockToleranceSeconds: 3600 });
    const verify = (at: number) => verifier.verify(made, asked(), at);
    expect(verify(asOf).slice).toEqual(made);
    expect(() => verify(asOf - 1)).toThrow('was issued 1 ms after');
    expect(() => verify(made.expiresAt)).toThrow('expired 0 ms before');
  });
});

describe('a key that is not trusted', () => {
  test('a key that was rotated out', async () => {
    const rotated = rotateKeys(rotateKeys(keys));
    const retiredKeyIds = rotated.keys.filter(({ state }) => state === 'retired').map(({ keyId }) => keyId);
    const pinned = [...publicKeys, ...openKernel({ keys: rotated }).keys.map(({ publicKey }) => publicKey)];
    const verifier = openVerifier({ publicKeys: pinned, retiredKeyIds });
    expect(await attack(kernel, { verifier })).toBe('key-retired');
    await openClient({ authority: openKernel({ keys: rotated }), verifier }).search(query);
  });

  test('a kernel that lies about its key', async () => {
    const lying = openKernel({ keys: makeKeys() });
    expect(lying.keys[0]?.publicKey).not.toBe(publicKeys[0]);
    expect(await attack(lying)).toBe('key-untrusted');
  });

  test('a kernel that signs with its own key under the id of a trusted one', async () => {
    const [own] = makeKeys().keys as [KernelKey];
    const signer = new Signer({ ...own, keyId: keys.keys[0]!.keyId });
    const { fingerprint: _f, admissibilityToken: _t, signature: _s, ...payload } = await sliceOf();
    expect(await attack(answerWith(() => signer.sign(payload)))).toBe('signature');
  });
});

const sliceOf = () => kernel.slice({ policyRef: formatPolicyRef(policy), scope: query.scope, asOf });

describe('a trusted kernel that is wrong', () => {
  const signer = new Signer(keys.keys[0]!);
  const signIds = (turnIds: string[]) =>
    answerWith(({ fingerprint: _f, admissibilityToken: _t, signature: _s, ...payload }) =>
      signer.sign({ ...payload, turnIds }),
    );

  test('signs a turn that is not strictly earlier', async () => {
    const simultaneous = corpus.turns[50]!.id;
    expect(await attack(signIds(sortIds([anchor, simultaneous])))).toBe('moment');
  });

  test('signs more turns than the policy allows', async () => {
    const ids = sortIds(corpus.turns.slice(0, policy.maxNodes + 1).map(({ id }) => id));
    expect(await attack(signIds(ids))).toBe('budget');
    await openClient({ authority: signIds(ids.slice(1)) }).search(query);
  });
});

describe('a refinement', () => {
  test('chained to another first slice', async () => {
    // The same question at the same moment: only the expiry of the first slice differs.
    const other = openKernel({ validSeconds: 60 });
    const { refinedExport } = await openClient({ authority: other, policy: levelled }).search(query);
    const authority = answerWith((slice) => (slice.previous === null ? slice : refinedExport));
    expect(await findReason(openClient({ authority, policy: levelled }).search(query))).toBe('chain');
  });

  test('of a first slice that is extended while it is refined', async () => {
    const authority = {
      slice: (request: SliceRequestInput) => {
        request.refine?.slice.turnIds.push(hidden);
        return kernel.slice(request);
      },
      verify: kernel.verify.bind(kernel),
    };
    await expect(openClient({ authority, policy: levelled }).search(query)).rejects.toThrow(TypeError);
  });

  test('given for a first slice, and a first slice for a refinement', async () => {
    const client = (authority: SliceAuthority) => openClient({ authority, policy: levelled });
    const slices: SliceExport[] = [];
    const keep = answerWith((slice) => {
      slices.push(slice);
      return slice;
    });
    const { refinedExport } = await client(keep).search(query);
    expect(slices.length).toBe(2);
    expect(refinedExport).toEqual(slices[1]);
    expect(await findReason(client(answerWith(() => slices[1])).search(query))).toBe('chain');
    expect(await findReason(client(answerWith(() => slices[0])).search(query))).toBe('chain');
  });
});

describe('what searches', () => {
  /** Ignores the list of visible turns. */
  class OpenIndex extends CountedIndex {
    override search({ visible: _, ...queries }: QueryBatch, k: number) {
      return super.search(queries, k);
    }
  }
  const [ids, texts] = [corpus.turns.map(({ id }) => id), corpus.turns.map(({ text }) => text)];

  test('an index that ignores the list', async () => {
    expect(await findReason(openClient({ index: new OpenIndex(ids, texts) }).search(query))).toBe('bypassed');
  });

  test('a live index that ignores the list', async () => {
    const index = await openVectorIndex({ index: 'flat' }, 2);
    await index.upsert(ids.map((id, i) => ({ id, vector: Float32Array.of(Math.cos(i), Math.sin(i)) })));
    const open: Pick<VectorIndex, 'search'> = { search: (vectors, k) => index.search(vectors, k) };
    const request = { ...query, vector: Float32Array.of(1, 0) };
    const search = searchVectors(open as VectorIndex);
    expect(await findReason(openClient({ search }).search(request))).toBe('bypassed');
    const { turns: found } = await openClient({ search: searchVectors(index) }).search(request);
    expect(found.length).toBe(query.k);
    await index.dispose();
  });

  test('a search that adds to the list of what is allowed', async () => {
    const search = searchCandidates(openIndex(), corpus);
    const client = openClient({
      search: (asked, { positions, turnIds, ...allowed }, k) => {
        (turnIds as Set<string>).add(hidden);
        positions.fill(corpus.getPosition(hidden), 0, 1);
        return search(asked, { ...allowed, turnIds, positions: positions.sort() }, k);
      },
    });
    expect(await findReason(client.search({ ...query, k: 12 }))).toBe('bypassed');
  });

  test('a reranking that adds a turn', async () => {
    const rerank = (_: unknown, found: readonly { turnId: string; score: number }[]) => [
      { turnId: hidden, score: 9 },
      ...found,
    ];
    expect(await findReason(openClient({ rerank }).search(query))).toBe('bypassed');
  });
});
