import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigurationError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { Kernel } from '../authority/kernel.ts';
import type { SlicePolicy } from '../policies/policy.ts';
import { buildPolicy, makeKeys } from '../policies/slices.fixture.ts';
import { formatCanonicalJson } from '../signatures/canonical-json.ts';
import { FORGERIES } from '../signatures/forgeries.fixture.ts';
import { generateKey } from '../signatures/kernel-keys.ts';
import { findReason } from '../signatures/refusals.harness.ts';
import { formatWithIds, readPayload } from '../signatures/signature.ts';
import type { SliceExport } from '../signatures/slice-export.ts';
import type { AskedSlice } from './asked-slice.ts';
import {
  ask,
  asked,
  asOf,
  corpus,
  fullScope,
  levelled,
  openKernel,
  openVerifier,
  policy,
  wide,
} from './enforcement.harness.ts';
import { escapeId, foldId, SliceVerifier } from './slice-verifier.ts';

import '../../core/properties.harness.ts';

const verifier = openVerifier();
const kernel = openKernel();
const ids = corpus.turns.map(({ id }) => id);

/** What is asked for where a slice is believed: only what binds it can refuse it. */
function believe(slice: unknown, fallback: AskedSlice): AskedSlice {
  const { scope, issuedAt } = slice as SliceExport;
  const isScope = typeof scope === 'object' && scope !== null;
  return { ...fallback, ...(isScope && { scope }), asOf: typeof issuedAt === 'number' ? issuedAt : null };
}

test('1,000 forgeries: none is accepted', async () => {
  const random = createRandom(5, 'forgeries');
  const valid = await Promise.all(
    [20, 25, 31, 36].map(async (position) => {
      const question = asked({
        scope: fullScope({ anchorTurnId: ids[position] as string }),
        asOf: corpus.turns[50 + (position % 3)]!.timestamp,
      });
      return { question, slice: await ask(kernel, question) };
    }),
  );
  const reasons = new Map<string, number>();
  const kinds = Object.values(FORGERIES);
  for (let made = 0; made < 1000; ) {
    const { slice, question } = valid[random.integer(valid.length)]!;
    const forged = kinds[made % kinds.length]!(random, slice, valid[random.integer(valid.length)]!.slice, ids);
    if (valid.some((one) => isDeepStrictEqual(forged, one.slice))) continue; // what it changed is no content
    made++;
    for (const claim of [question, believe(forged, question)]) {
      const at = claim.asOf ?? slice.issuedAt;
      const reason = await findReason((async () => verifier.verify(forged, claim, at))());
      expect(reason, JSON.stringify(forged)).not.toBeNull();
      reasons.set(reason as string, (reasons.get(reason as string) ?? 0) + 1);
    }
  }
  const named = [
    'malformed',
    'fingerprint',
    'order',
    'twin',
    'unknown-turn',
    'scope',
    'policy',
    'corpus',
    'moment',
    'key-untrusted',
    'signature',
    'chain',
    'budget',
  ];
  expect([...reasons.keys()].toSorted()).toEqual(expect.arrayContaining(named.toSorted()));
  for (const { slice, question } of valid) verifier.verify(slice, question, slice.issuedAt);
});

test('every valid slice is accepted, and is what the kernel gave', async () => {
  const policies: SlicePolicy[] = [
    policy,
    wide,
    buildPolicy({ id: 'newest', anchor: 'newest-of-author', unanchored: 'channel' }),
    buildPolicy({ id: 'conversation', anchor: 'newest-of-conversation', unanchored: 'all' }),
    buildPolicy({ id: 'nothing', anchor: 'newest-of-author', unanchored: 'nothing' }),
    levelled,
  ];
  const every = openKernel({ policies });
  const question = fc.record({
    policy: fc.constantFrom(...policies),
    anchor: fc.integer({ min: 0, max: 40 }),
    moment: fc.integer({ min: 45, max: 59 }),
    author: fc.constantFrom(null, 'a1', 'a4', 'nobody'),
    known: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(question, async ({ policy: of, anchor, moment, author, known }) => {
      const { id, conversationId, channel } = corpus.turns[anchor]!;
      const scope = { anchorTurnId: id, conversationId: known ? conversationId : null, author, channel };
      const claim = asked({ policy: of, scope, asOf: corpus.turns[moment]!.timestamp });
      const slice = JSON.parse(JSON.stringify(await ask(every, claim))) as SliceExport;
      const first = verifier.verify(slice, claim, slice.expiresAt - 1);
      expect(first.slice).toEqual(slice);
      expect([...first.positions].map((position) => ids[position]).toSorted()).toEqual(slice.turnIds.toSorted());
      expect([...first.positions]).toEqual([...first.positions].toSorted((a, b) => a - b));
      expect(first.cutoff).toBe(corpus.turns.filter(({ timestamp }) => timestamp < slice.issuedAt).length);
      if (of !== levelled) return;
      const refined = await ask(every, claim, { slice, around: slice.turnIds.slice(0, 2) });
      verifier.verify(refined, { ...claim, first }, slice.issuedAt);
    }),
    { numRuns: 60 },
  );
});

test('both keys of a rotation are accepted', async () => {
  const [old, next] = [generateKey(), generateKey()];
  const kernels = [old, next].map((key) => openKernel({ keys: { keys: [key] } }));
  const both = openVerifier({ publicKeys: kernels.map(({ keys }) => keys[0]!.publicKey) });
  for (const one of kernels) both.verify(await ask(one, asked()), asked(), asOf);
});

test('without a public key nothing can be verified', () => {
  expect(() => openVerifier({ publicKeys: [] })).toThrow(ValidationError);
  expect(() => openVerifier({ publicKeys: ['abc'] })).toThrow(ConfigurationError);
});

describe('the text that is signed', () => {
  const id = fc.string({ unit: 'grapheme', maxLength: 9 });
  test('is canonical JSON, whatever the ids are', async () => {
    const { signature: _, ...sealed } = await ask(kernel, asked());
    fc.assert(
      fc.property(fc.array(id, { maxLength: 20 }), id, (turnIds, author) => {
        const scope = { ...sealed.scope, author };
        for (const value of [
          { ...sealed, scope, turnIds },
          { ...readPayload({ ...sealed, signature: '' }), turnIds },
        ])
          expect(formatWithIds(value, JSON.stringify(turnIds))).toBe(formatCanonicalJson(value));
      }),
      { numRuns: 100 },
    );
  });

  test('verifies ids of any script', async () => {
    const named = ['"a"', 'été', '鍵', '\u{1f511}', '\uffee', ' ', '\u0001\\', 'z'];
    const odd = new Corpus(
      corpus.turns.slice(0, 8).map((turn, i) => ({ ...turn, id: named[i]!, parentId: null, conversationId: 'c' })),
    );
    const all = buildPolicy({ anchor: 'newest-of-author', unanchored: 'all' });
    const own = new Kernel({ corpus: odd, policies: [all], keys: makeKeys(), allowAsOf: true });
    const claim = asked({ policy: all, scope: fullScope({}), asOf: 1e12 });
    const publicKeys = [own.keys[0]!.publicKey];
    const { slice } = new SliceVerifier({ publicKeys, corpus: odd }).verify(await ask(own, claim), claim, 1e12);
    expect(slice.turnIds.length).toBe(8);
  });
});

describe('twins', () => {
  test.each([
    ['pаypal', 'paypal'], // Cyrillic а
    ['ΑΒΕ-1', 'ABE-1'], // Greek
    ['e\u0301', 'é'],
    ['ｔ１', 't1'],
    ['a\u200bb\ufeff ', 'ab'],
    ['a‐b', 'a-b'],
  ])('%s looks like %s', (a, b) => {
    expect(a).not.toBe(b);
    expect(foldId(a)).toBe(foldId(b));
  });

  test('ids of plain letters and digits are twins of none', () => {
    const plain = [...ids, 'T0001', 't001', 't0001-'];
    expect(new Set(plain.map(foldId)).size).toBe(plain.length);
  });

  test('a message shows the difference', () => {
    expect(escapeId('t1\u200b é')).toBe('t1\\u{200b}\\u{20}\\u{e9}');
  });
});
