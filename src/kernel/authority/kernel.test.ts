import { describe, expect, test } from 'vitest';
import { Corpus } from '../../model/turns/corpus.ts';
import type { SlicePolicyInput } from '../policies/policy.ts';
import { formatPolicyRef } from '../policies/policy-ref.ts';
import { buildPolicy, drawCorpus, drawTurns, makeKeys } from '../policies/slices.fixture.ts';
import type { AdmissibilityReason } from '../signatures/admissibility-error.ts';
import { derivePublicKey, rotateKeys } from '../signatures/kernel-keys.ts';
import { readPublicKey } from '../signatures/public-key.ts';
import { findReason } from '../signatures/refusals.harness.ts';
import { computeLink, isSignedBy } from '../signatures/signature.ts';
import type { SliceExport, SliceScope } from '../signatures/slice-export.ts';
import { walkByDefinition } from '../slices/slice-walk.oracle.ts';
import { Kernel, type KernelOptions } from './kernel.ts';

const corpus = drawCorpus(60);
const anchor = corpus.turns[30]!;
const asOf = corpus.turns[50]!.timestamp;
const keys = makeKeys();

function openKernel(policy: Partial<SlicePolicyInput> = {}, options: Partial<KernelOptions> = {}) {
  const [resolved] = [buildPolicy(policy)];
  const kernel = new Kernel({ corpus, policies: [resolved], keys, allowAsOf: true, ...options });
  const ask = (scope: Partial<SliceScope>, rest: object = {}) =>
    kernel.slice({ policyRef: formatPolicyRef(resolved), scope, asOf, ...rest });
  return { kernel, policy: resolved, ask };
}

describe('a slice', () => {
  test('is that of the moment, in the order of the bytes of its ids, bound to what was asked', async () => {
    const { kernel, ask, policy } = openKernel();
    const slice = await ask({ anchorTurnId: anchor.id });
    const expected = walkByDefinition(corpus.turns, policy, anchor.id, asOf).map(([id]) => id);
    expect(slice.turnIds).toEqual(expected.toSorted());
    expect(slice.turnIds.length).toBe(policy.maxNodes);
    expect(slice).toMatchObject({
      ...{ anchorTurnId: anchor.id, policyRef: kernel.policyRefs[0], corpusVersion: kernel.corpusVersion },
      ...{ issuedAt: asOf, expiresAt: asOf + 300_000, keyId: keys.keys[0]?.keyId, previous: null },
      scope: { anchorTurnId: anchor.id, conversationId: null, author: null, channel: null },
    });
    expect(isSignedBy(slice, readPublicKey(kernel.keys[0]?.publicKey as string))).toBe(true);
    await kernel.verify(slice, asOf);
  });

  test('is the same for the same question, byte by byte, from the cache or not', async () => {
    const { kernel, ask } = openKernel();
    const slices = [await ask({ anchorTurnId: anchor.id }), await ask({ anchorTurnId: anchor.id })];
    expect(kernel.cacheUse).toEqual({ hits: 1, misses: 1 });
    expect(JSON.stringify(slices[1])).toBe(JSON.stringify(slices[0]));
    expect(await openKernel({}, { cacheEntries: 0 }).ask({ anchorTurnId: anchor.id })).toEqual(slices[0]);
    await ask({ anchorTurnId: corpus.turns[3]!.id });
    expect(kernel.cacheUse).toEqual({ hits: 1, misses: 2 });
  });

  test('of now ends with the clock', async () => {
    let now = asOf + 5;
    const { kernel, ask } = openKernel({}, { allowAsOf: false, now: () => now, validSeconds: 2 });
    const slice = await ask({ anchorTurnId: anchor.id }, { asOf: null });
    expect([slice.issuedAt, slice.expiresAt]).toEqual([asOf + 5, asOf + 2005]);
    now += 1999;
    await kernel.verify(slice, null);
    now += 1;
    expect(await findReason(kernel.verify(slice, null))).toBe('expired');
    expect(await findReason(kernel.verify(slice, asOf + 6))).toBe('moment'); // would be valid then
    expect(await findReason(ask({ anchorTurnId: anchor.id }))).toBe('moment');
  });
});

describe('an anchor', () => {
  const before = corpus.turns.filter(({ timestamp }) => timestamp < asOf);
  const newest = (field: 'conversationId' | 'author') => before.findLast((turn) => turn[field] === anchor[field])?.id;

  test('is the newest turn of the conversation or of the author at that moment', async () => {
    const ofConversation = await openKernel({ anchor: 'newest-of-conversation' }).ask({
      conversationId: anchor.conversationId,
    });
    expect(ofConversation.anchorTurnId).toBe(newest('conversationId'));
    const ofAuthor = await openKernel({ anchor: 'newest-of-author' }).ask({ author: anchor.author });
    expect(ofAuthor.anchorTurnId).toBe(newest('author'));
    expect(ofAuthor.turnIds).toContain(ofAuthor.anchorTurnId);
  });

  test('that is later, or no turn, is refused', async () => {
    const { ask } = openKernel();
    expect(await findReason(ask({ anchorTurnId: corpus.turns.at(-1)!.id }))).toBe('unknown-anchor');
    expect(await findReason(ask({ anchorTurnId: 'nothing' }))).toBe('unknown-anchor');
  });

  test('that is missing: the query is refused, or sees what the policy names', async () => {
    expect(await findReason(openKernel().ask({ channel: anchor.channel }))).toBe('no-anchor');
    const see = async (unanchored: 'nothing' | 'channel' | 'all', scope: Partial<SliceScope> = {}) => {
      const slice = await openKernel({ unanchored }).ask(scope);
      expect(slice.anchorTurnId).toBeNull();
      return slice.turnIds;
    };
    const ids = (accept: (turn: (typeof before)[number]) => boolean) =>
      before
        .filter(accept)
        .map(({ id }) => id)
        .sort();
    expect(await see('nothing')).toEqual([]);
    expect(await see('channel', { channel: 'k1' })).toEqual(ids(({ channel }) => channel === 'k1'));
    expect(await see('channel')).toEqual([]);
    expect(await see('all')).toEqual(ids(() => true));
    expect(await findReason(openKernel({ unanchored: 'all' }, { maxTurns: 5 }).ask({}))).toBe('limit');
  });
});

describe('verification refuses', () => {
  const { kernel, ask } = openKernel();

  test.each<[AdmissibilityReason, (slice: SliceExport) => Partial<SliceExport>]>([
    ['fingerprint', ({ turnIds }) => ({ turnIds: turnIds.slice(1) })],
    ['signature', () => ({ expiresAt: asOf + 1e9 })],
    ['signature', () => ({ anchorTurnId: 'other' })],
    ['signature', ({ scope }) => ({ scope: { ...scope, author: 'other' } })],
    [
      'signature',
      ({ admissibilityToken }) => ({
        admissibilityToken: admissibilityToken.replace(/^./, (c) => (c === '0' ? '1' : '0')),
      }),
    ],
    ['key-untrusted', () => ({ keyId: '0'.repeat(16) })],
  ])('%s', async (reason, change) => {
    const slice = await ask({ anchorTurnId: anchor.id });
    expect(await findReason(kernel.verify({ ...slice, ...change(slice) }, asOf))).toBe(reason);
  });

  test('slices of a retired key, not of the key before', async () => {
    const slice = await ask({ anchorTurnId: anchor.id });
    const once = rotateKeys(keys);
    const rotated = openKernel({}, { keys: once });
    await rotated.kernel.verify(slice, asOf);
    expect((await rotated.ask({ anchorTurnId: anchor.id })).keyId).toBe(once.keys[0]?.keyId);
    const retired = openKernel({}, { keys: rotateKeys(once) }).kernel;
    expect(await findReason(retired.verify(slice, asOf))).toBe('key-retired');
    expect(retired.keys.map(({ publicKey }) => publicKey)).not.toContain(derivePublicKey(keys.keys[0]!.privateKey));
  });

  test('slices of a corpus that has grown since', async () => {
    const slice = await ask({ anchorTurnId: anchor.id });
    const grown = openKernel({}, { corpus: new Corpus(drawTurns(61)) }).kernel;
    expect(grown.corpusVersion).not.toBe(kernel.corpusVersion);
    expect(await findReason(grown.verify(slice, asOf))).toBe('stale');
  });
});

test('an unknown policy is refused, and the error names the known ones', async () => {
  const { kernel, ask } = openKernel();
  await expect(ask({ anchorTurnId: anchor.id }, { policyRef: 'sample@1' })).rejects.toThrow(kernel.policyRefs[0]);
});

describe('a hierarchy', () => {
  const { kernel, ask } = openKernel({ maxNodes: 40, minPriority: 0, hierarchy: { coarseShare: 0.6, around: 2 } });
  const isWhole = (turnIds: readonly string[], conversation: string) => {
    const all = corpus.turns.filter((turn) => turn.conversationId === conversation && turn.timestamp < asOf);
    return all.every(({ id }) => turnIds.includes(id));
  };

  test('admits whole conversations, then turns around the first results within one budget, chained', async () => {
    const first = await ask({ anchorTurnId: anchor.id });
    expect(first.turnIds.length).toBeLessThanOrEqual(24);
    expect(isWhole(first.turnIds, anchor.conversationId)).toBe(true);
    const around = first.turnIds.slice(-3);
    const second = await ask({ anchorTurnId: anchor.id }, { refine: { slice: first, around } });
    expect(second.previous).toBe(computeLink(first));
    expect(second.turnIds.length).toBeGreaterThan(0);
    expect(first.turnIds.length + second.turnIds.length).toBeLessThanOrEqual(40);
    expect(second.turnIds.filter((id) => first.turnIds.includes(id))).toEqual([]);
    await kernel.verify(second, asOf);
    const elsewhere = await ask({ anchorTurnId: anchor.id }, { refine: { slice: first, around: [first.turnIds[0]] } });
    expect(elsewhere.turnIds).not.toEqual(second.turnIds);
  });

  test('refines no other slice', async () => {
    const first = await ask({ anchorTurnId: anchor.id });
    const [id] = first.turnIds as [string];
    const refine = (
      slice: SliceExport,
      around: string[] = [id],
      scope: Partial<SliceScope> = { anchorTurnId: anchor.id },
    ) => findReason(ask(scope, { refine: { slice, around } }));
    expect(await refine(first, ['outside'])).toBe('chain');
    expect(await refine(first, [id], { anchorTurnId: id })).toBe('chain');
    expect(await refine({ ...first, turnIds: first.turnIds.slice(1) })).toBe('fingerprint');
    const second = await ask({ anchorTurnId: anchor.id }, { refine: { slice: first, around: [id] } });
    expect(await refine(second, [second.turnIds[0] as string])).toBe('chain');
    const plain = openKernel();
    const slice = await plain.ask({ anchorTurnId: anchor.id });
    const refined = plain.ask({ anchorTurnId: anchor.id }, { refine: { slice, around: [slice.turnIds[0]] } });
    expect(await findReason(refined)).toBe('chain');
  });
});
