import { describe, expect, test } from 'vitest';
import { computeHash } from '../core/hash/hash.ts';
import { createRandom, type Random } from '../core/numbers/random.ts';
import { Corpus } from '../model/turns/corpus.ts';
import type { Turn } from '../model/turns/turn.ts';
import { Kernel } from './authority/kernel.ts';
import type { VerifiedSlice } from './client/asked-slice.ts';
import { SliceVerifier } from './client/slice-verifier.ts';
import { formatPolicyRef } from './policies/policy-ref.ts';
import { buildPolicy, drawTurns, makeKeys } from './policies/slices.fixture.ts';
import { sortIds } from './signatures/fingerprint.ts';
import { findReason } from './signatures/refusals.harness.ts';
import type { SliceExport } from './signatures/slice-export.ts';
import { walkByDefinition } from './slices/slice-walk.oracle.ts';

const COUNT = 61;
/** In the order of their bytes, which is not that of their UTF-16 code units. */
const LETTERS = ['n', 'é', '\uffee', '\u{1f511}'];

const policies = [
  buildPolicy({ id: 'near' }),
  // Many turns of equal priority: the order of their ids decides.
  buildPolicy({
    id: 'even',
    minPriority: 0,
    distanceDecay: 1,
    relationWeight: { author: 1, channel: 1, reference: 1 },
  }),
  buildPolicy({
    ...{ id: 'references', minPriority: 0, phaseWeight: {} },
    relationWeight: { parent: 0, child: 0, sibling: 0, channel: 0, author: 0, reference: 1 },
  }),
  buildPolicy({ id: 'author', anchor: 'newest-of-author', unanchored: 'channel' }),
  buildPolicy({ id: 'conversation', anchor: 'newest-of-conversation', unanchored: 'all' }),
  buildPolicy({ id: 'levelled', maxNodes: 30, minPriority: 0, hierarchy: {} }),
];
const keys = makeKeys();

/** Turns in time order, whose ids are in another; they refer to earlier turns, later ones, themselves and to none. */
function drawWorld(random: Random): readonly Turn[] {
  const drawn = drawTurns(COUNT, random.integer(1000));
  const names = new Map(
    drawn.map(({ id }) => [id, `${LETTERS[random.integer(LETTERS.length)]}${random.integer(99)}-${id}`]),
  );
  const rename = (id: string) => names.get(id) ?? id;
  const refer = (): string => rename(drawn[random.integer(COUNT)]!.id);
  const turns = drawn.map(({ id, parentId, attributes, ...turn }) => ({
    ...{ ...turn, id: rename(id), parentId: parentId === null ? null : rename(parentId) },
    ...{ author: random.uniform() < 0.2 ? null : turn.author },
    attributes: {
      ...attributes,
      ...(random.uniform() < 0.3 && { references: [refer(), 'missing', rename(id), refer(), refer()] }),
    },
  }));
  return new Corpus(turns).turns;
}

/** Grows by some later turns. */
const grow = (before: Corpus, turns: readonly Turn[]) => new Corpus(turns, { after: before });

interface Opened {
  readonly corpus: Corpus;
  readonly kernel: Kernel;
  readonly verifier: SliceVerifier;
}

/** A kernel and a verifier over a corpus, by themselves or made of those before. */
function open(corpus: Corpus, before?: Opened): Opened {
  const kernel = new Kernel({ corpus, policies, keys, allowAsOf: true, ...(before && { before: before.kernel }) });
  const publicKeys = kernel.keys.map(({ publicKey }) => publicKey);
  const verifier = new SliceVerifier({ corpus, publicKeys, ...(before && { before: before.verifier }) });
  return { corpus, kernel, verifier };
}

/** A question about a turn that may be later, of any person, at any moment. */
const drawQuestion = (turns: readonly Turn[], random: Random) => {
  const [turn, other, { timestamp }] = [0, 1, 2].map(() => turns[random.integer(turns.length)]!) as [Turn, Turn, Turn];
  return {
    policy: policies[random.integer(policies.length)]!,
    asOf: timestamp + random.integer(2),
    scope: {
      ...{ anchorTurnId: random.uniform() < 0.2 ? null : turn.id, conversationId: turn.conversationId },
      ...{ author: other.author, channel: other.channel },
    },
  };
};
type Question = ReturnType<typeof drawQuestion>;

/** The slice of a question and its refinement, as they were signed and verified; why it is refused where it is. */
async function answer({ kernel, verifier }: Opened, { policy, scope, asOf }: Question): Promise<unknown> {
  const request = { policyRef: formatPolicyRef(policy), scope, asOf };
  const asked = { policy, scope, asOf, first: null };
  try {
    const first = verifier.verify(await kernel.slice(request), asked, asOf);
    if (policy.hierarchy === null || first.slice.turnIds.length === 0) return first;
    const refine = { slice: first.slice, around: first.slice.turnIds.slice(0, 2) };
    return [first, verifier.verify(await kernel.slice({ ...request, refine }), { ...asked, first }, asOf)];
  } catch (error) {
    return error;
  }
}

async function expectSame(grown: Opened, turns: readonly Turn[], random: Random): Promise<number> {
  const fresh = open(new Corpus([...grown.corpus.turns]));
  expect([grown.kernel, grown.verifier].map(({ corpusVersion }) => corpusVersion)).toEqual(
    [fresh.kernel, fresh.verifier].map(({ corpusVersion }) => corpusVersion),
  );
  let signed = 0;
  for (let i = 0; i < 8; i++) {
    const question = drawQuestion(turns, random);
    const expected = await answer(fresh, question);
    expect(await answer(grown, question)).toEqual(expected);
    if (expected instanceof Error) continue;
    signed++;
    const { policy, asOf, scope } = question;
    if (policy.anchor !== 'given' || policy.hierarchy !== null || scope.anchorTurnId === null) continue;
    const walked = walkByDefinition(grown.corpus.turns, policy, scope.anchorTurnId, asOf).map(([id]) => id);
    expect((expected as VerifiedSlice).slice.turnIds).toEqual(sortIds(walked));
  }
  return signed;
}

/** The sizes to which a list of turns can be cut so that no parent is missing. */
const listCuts = (turns: readonly Turn[]) =>
  [...turns.keys(), turns.length].filter((cut) => {
    const ids = new Set(turns.slice(0, cut).map(({ id }) => id));
    return turns.slice(0, cut).every(({ parentId }) => parentId === null || ids.has(parentId));
  });

describe('a kernel and a verifier that took in later turns', () => {
  test.each([
    [0, 1],
    [0, 7],
    [1, 1],
    [1, 13],
    [17, 2],
    [40, 5],
  ])('from %i turns, by steps of up to %i, sign and find what fresh ones do', async (start, step) => {
    const random = createRandom(100 * start + step, 'kernel growth');
    const turns = drawWorld(random);
    const cuts = listCuts(turns).filter((cut) => cut >= start);
    let grown = open(new Corpus(turns.slice(0, cuts[0])));
    let signed = 0;
    for (let at = 0; at < cuts.length; at += 1 + random.integer(step)) {
      const before = grown;
      grown = open(grow(before.corpus, turns.slice(before.corpus.size, cuts[at])), before);
      signed += await expectSame(grown, turns, random);
      if (at % 5 === 0) await expectSame(before, turns, random);
    }
    expect(signed).toBeGreaterThan(4);
  });

  test('are those of each of two corpora that grew from one, and of one that changed', async () => {
    const random = createRandom(5, 'kernel branches');
    const turns = drawWorld(random);
    const cut = listCuts(turns).find((size) => size > 30)!;
    const first = new Corpus(turns.slice(0, cut));
    const before = open(first);
    const last = turns[cut - 1]!;
    for (const id of ['x', 'y']) {
      const corpus = grow(first, [{ ...last, id, parentId: null, timestamp: last.timestamp + 1 }]);
      await expectSame(open(corpus, before), [...turns, ...corpus.turns], random);
    }
    await expectSame(before, turns, random);
    const changed = [
      [...first.turns, { ...last, id: 'late', parentId: null, timestamp: turns[3]!.timestamp }],
      first.turns.map((turn) => ({ ...turn, author: `${turn.author}`, attributes: {} })),
      turns.slice(
        0,
        listCuts(turns).find((size) => size > 9),
      ),
    ];
    for (const list of changed) await expectSame(open(new Corpus(list), open(first)), turns, random);
  });

  test('refuse the slices of the turns before, and those that are of later ones', async () => {
    const turns = drawWorld(createRandom(6, 'kernel replay'));
    const cut = listCuts(turns).at(-2)!;
    const before = open(new Corpus(turns.slice(0, cut)));
    const grown = open(grow(before.corpus, turns.slice(cut)), before);
    const { corpus, publicKeys } = { corpus: grown.corpus, publicKeys: [grown.kernel.keys[0]!.publicKey] };
    const earlierVersions = [before.kernel.corpusVersion];
    const told = new SliceVerifier({ corpus, publicKeys, earlierVersions, before: before.verifier });
    const [policy, asOf] = [policies[0]!, turns[cut - 1]!.timestamp];
    const scope = { anchorTurnId: turns[0]!.id, conversationId: null, author: null, channel: null };
    const asked = { policy, scope, asOf, first: null };
    const [old, next] = (await Promise.all(
      [before, grown].map(({ kernel }) => kernel.slice({ policyRef: formatPolicyRef(policy), scope, asOf })),
    )) as [SliceExport, SliceExport];
    expect(next.turnIds).toEqual(old.turnIds);
    expect(await findReason(grown.kernel.verify(old, asOf))).toBe('stale');
    expect(await findReason(before.kernel.verify(next, asOf))).toBe('stale');
    expect(await findReason((async () => told.verify(old, asked, asOf))())).toBe('stale');
    expect(await findReason((async () => grown.verifier.verify(old, asked, asOf))())).toBe('corpus');
    expect(await findReason((async () => before.verifier.verify(next, asked, asOf))())).toBe('corpus');
  });

  test('have as their version the hash of the list of turns', () => {
    const turns = drawWorld(createRandom(7, 'kernel version'));
    const [cut] = listCuts(turns).slice(-9) as [number];
    const before = open(new Corpus(turns.slice(0, cut)));
    const list = turns.map(({ id, conversationId, parentId, timestamp, author, channel, attributes }) => [
      ...[id, conversationId, parentId, timestamp, author, channel],
      ...[attributes?.phase ?? null, attributes?.references ?? null],
    ]);
    const { kernel, verifier } = open(grow(before.corpus, turns.slice(cut)), before);
    const expected = computeHash(list).slice(0, 16);
    expect([kernel.corpusVersion, verifier.corpusVersion]).toEqual([expected, expected]);
    expect(open(new Corpus([])).kernel.corpusVersion).toBe(computeHash([]).slice(0, 16));
  });
});
