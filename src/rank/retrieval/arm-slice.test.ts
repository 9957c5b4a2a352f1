import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { Kernel } from '../../kernel/authority/kernel.ts';
import { slicePolicySchema } from '../../kernel/policies/policy.ts';
import { makeKeys } from '../../kernel/policies/slices.fixture.ts';
import { AdmissibilityError } from '../../kernel/signatures/admissibility-error.ts';
import type { SliceAuthority } from '../../kernel/signatures/slice-export.ts';
import { type SliceOptions, type SliceSource, sliceOptions } from '../../kernel/slices/slice-options.ts';
import { walkByDefinition } from '../../kernel/slices/slice-walk.oracle.ts';
import type { Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { Plan } from '../signals/plan.ts';
import { listControlsFor, parseArm, poolOfArm } from './arms.fixture.ts';
import { candidatesFrom, poolRows } from './candidate-sources.ts';
import { retrieve } from './retriever.ts';
import { openSlices, signedSlices } from './signed-slices.ts';
import { listArmStages } from './written-steps.ts';

beforeAll(() => useBackend('wasm'));

const drawn = drawSampleWorld(3);
const corpus = new Corpus(drawn.turns);
/** Every third query has no anchor, and what the others name is an earlier turn. */
const queries = drawn.queries.map((query, i): Query => {
  const earlier = corpus.countEarlierTurns(query.timestamp);
  return { ...query, anchorTurnId: i % 3 === 0 || earlier === 0 ? null : corpus.turns[(7 * i) % earlier]!.id };
});
const world = { ...drawn, queries };
const keys = makeKeys();

/** An arm with a slice, whose source is that of the newest turns unless another is given. */
const resolve = (slice: object | null, steps: object = { search: { newest: { k: 17 } } }) =>
  parseArm({ slice, ...steps });

const POLICY = slicePolicySchema.parse({
  id: 'near',
  maxNodes: 11,
  minPriority: 0.2,
  relationWeight: { channel: 0.5 },
});
const buildSlice = (changes: object = {}) => sliceOptions.parse({ policy: { ...POLICY, ...changes } });

/** A kernel in this process; `asked` counts. */
function createSource(change: (authority: SliceAuthority) => SliceAuthority = (authority) => authority) {
  const kernels = new Map<string, Kernel>();
  const source = {
    asked: 0,
    findTrust: () => ({ publicKeys: [keyOf()], replayed: null }),
    async openAuthority({ policy }: SliceOptions) {
      const kernel = new Kernel({ corpus, policies: [policy], keys, allowAsOf: true });
      kernels.set(policy.id, kernel);
      return change({
        slice(request) {
          source.asked++;
          return kernel.slice(request);
        },
        verify: (slice, at) => kernel.verify(slice, at),
      });
    },
  } satisfies SliceSource & { asked: number };
  return source;
}
const keyOf = () => new Kernel({ corpus, policies: [], keys }).keys[0]!.publicKey;

async function findReason(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AdmissibilityError);
  expect((error as Error).message).toMatch(/^query .*; /);
  return (error as AdmissibilityError).reason;
}

/** By the definition; null for a query that is refused. */
const listAdmissible = (query: Query): string[] | null => {
  if (query.anchorTurnId === null) return null;
  return walkByDefinition(corpus.turns, POLICY, query.anchorTurnId, query.timestamp).map(([id]) => id);
};

describe('a slice of an arm', () => {
  test.each(['flat', 'newest', 'bm25', 'hnsw', 'graph'])(
    'is all that a query sees with index %s, and a refused query sees nothing',
    async (index) => {
      const workspace = createSampleWorkspace(world, undefined, createSource());
      try {
        const search = { ...(index === 'graph' && { flat: { k: 17 } }), [index]: { k: 17 } };
        const arm = resolve({ policy: POLICY }, { search, fuse: { only: index } });
        const { pool } = await retrieve(workspace, arm);
        let seen = 0;
        for (const [query, asked] of queries.entries()) {
          const row = [...pool.positions.subarray(query * pool.width, (query + 1) * pool.width)].filter((p) => p >= 0);
          const ids = row.map((position) => corpus.turns[position]!.id);
          const admissible = listAdmissible(asked) ?? [];
          expect(ids.filter((id) => !admissible.includes(id))).toEqual([]);
          if (index === 'newest') expect(ids.toSorted()).toEqual(admissible.toSorted());
          seen += ids.length;
        }
        expect(seen).toBeGreaterThan(0);
      } finally {
        workspace.dispose();
      }
    },
  );

  test('and a filter: what both let through', async () => {
    const workspace = createSampleWorkspace(world, undefined, createSource());
    try {
      const where = 'importance > 0.4';
      const arm = resolve({ policy: POLICY }, { filter: where, search: { newest: { k: 17 } } });
      const { pool } = await retrieve(workspace, arm);
      for (const [query, asked] of queries.entries()) {
        const row = [...pool.positions.subarray(query * pool.width, (query + 1) * pool.width)].filter((p) => p >= 0);
        const both = (listAdmissible(asked) ?? []).filter(
          (id) => Number(corpus.getTurn(id).attributes?.importance ?? 0) > 0.4,
        );
        expect(row.map((position) => corpus.turns[position]!.id).toSorted()).toEqual(both.toSorted());
      }
    } finally {
      workspace.dispose();
    }
  });

  test('is asked for once, whatever arms and subsets of queries use it', async () => {
    const slices = createSource();
    const workspace = createSampleWorkspace(world, undefined, slices);
    try {
      const slice = buildSlice();
      const all = await openSlices(workspace, slice);
      await retrieve(workspace, resolve({ policy: POLICY }, { search: { newest: { k: 3 } } }));
      const subset = workspace.withQueries([4, 1]);
      expect(await openSlices(subset, slice)).toEqual([all[4], all[1]]);
      const { pool } = await retrieve(subset, resolve({ policy: POLICY }));
      expect([...pool.positions.subarray(0, pool.width)].filter((p) => p >= 0).toSorted((a, b) => a - b)).toEqual([
        ...all[4]!,
      ]);
      expect(slices.asked).toBe(queries.length);
      subset.dispose();
    } finally {
      workspace.dispose();
    }
  });

  test.each<[reason: string, change: (slice: Awaited<ReturnType<SliceAuthority['slice']>>) => object]>([
    ['fingerprint', (slice) => ({ ...slice, turnIds: slice.turnIds.slice(1) })],
    ['signature', (slice) => ({ ...slice, expiresAt: slice.expiresAt + 1 })],
    ['key-untrusted', (slice) => ({ ...slice, keyId: '0123456789abcdef' })],
  ])('that was altered is refused: %s', async (reason, change) => {
    const slices = createSource((authority) => ({
      ...authority,
      slice: async (request) => change(await authority.slice(request)) as never,
    }));
    const workspace = createSampleWorkspace(world, undefined, slices);
    expect(await findReason(openSlices(workspace, buildSlice()))).toBe(reason);
    workspace.dispose();
  });

  test.each<[reason: string, request: object]>([
    ['moment', { asOf: queries[2]!.timestamp - 1 }],
    ['scope', { scope: { anchorTurnId: queries[2]!.anchorTurnId, channel: 'another' } }],
  ])('of another request is refused, though it is signed: %s', async (reason, request) => {
    const slices = createSource((authority) => ({
      ...authority,
      slice: (asked) => authority.slice({ ...asked, ...request }),
    }));
    const workspace = createSampleWorkspace({ ...world, queries: [queries[2]!] }, undefined, slices);
    expect(await findReason(openSlices(workspace, buildSlice()))).toBe(reason);
    workspace.dispose();
  });

  test('that a kernel is said to refuse, though the policy gives one, is refused here', async () => {
    const refuse = () => Promise.reject(new AdmissibilityError('no-anchor', 'no anchor; name one'));
    const slices = createSource((authority) => ({ ...authority, slice: refuse }));
    const workspace = createSampleWorkspace(world, undefined, slices);
    expect(await findReason(openSlices(workspace, buildSlice()))).toBe('no-anchor');
    workspace.dispose();
  });

  test('ends with the first failure of the kernel', async () => {
    const slices = createSource((authority) => ({
      ...authority,
      slice: async () => {
        throw new AdmissibilityError('kernel-unreachable', 'kernel is gone; start it');
      },
    }));
    const workspace = createSampleWorkspace(world, undefined, slices);
    await expect(retrieve(workspace, resolve({ policy: POLICY }))).rejects.toThrow('kernel is gone');
    workspace.dispose();
  });
});

describe('the key of a slice', () => {
  const identity = { code: 'c', data: 'd', encoder: {} };
  const createPlan = (slices: SliceSource = createSource()) => new Plan({ identity, corpus, queries, seed: 1, slices });
  const url = { kernel: 'http://127.0.0.1:8080', publicKey: keyOf() };

  test('holds policy, public key and replay, and neither port nor place', () => {
    const plan = createPlan();
    const keyOfSlice = (slice: object, of = plan) => of.stage(signedSlices(sliceOptions.parse(slice))).key;
    const key = keyOfSlice({ policy: POLICY });
    expect(keyOfSlice({ policy: POLICY, ...url })).toBe(key);
    expect(keyOfSlice({ policy: POLICY, ...url, kernel: 'http://127.0.0.1:9090' })).toBe(key);
    const others = [
      keyOfSlice({ policy: { ...POLICY, maxNodes: 12 } }),
      keyOfSlice(
        { policy: POLICY },
        createPlan({ ...createSource(), findTrust: () => ({ publicKeys: ['k'], replayed: null }) }),
      ),
      keyOfSlice(
        { policy: POLICY },
        createPlan({ ...createSource(), findTrust: () => ({ publicKeys: [keyOf()], replayed: 'r' }) }),
      ),
    ];
    expect(new Set([key, ...others]).size).toBe(4);
  });

  test('is part of what the sources find, and of nothing where there is no slice', () => {
    const plan = createPlan();
    const [free, near] = [resolve(null), resolve({ policy: POLICY })];
    expect(plan.stage(poolRows(poolOfArm(near))).key).not.toBe(plan.stage(poolRows(poolOfArm(free))).key);
    expect(plan.stage(poolRows(poolOfArm(free))).key).toBe(
      plan.stage(poolRows(poolOfArm(parseArm({ search: { newest: { k: 17 } } })))).key,
    );
    const names = listArmStages(plan, near).flatMap(({ inputs }) =>
      inputs.flatMap((input) => [input, ...input.inputs]),
    );
    expect(names.map(({ name }) => name)).toContain('slices');
    expect(plan.stage(candidatesFrom({ index: 'flat', k: 3 }, null)).inputs).toEqual([]);
  });
});

describe('random slices', () => {
  const control = { kind: 'random-slices', seed: null } as const;

  test('are a control of arms with slices alone', () => {
    expect(listControlsFor(resolve({ policy: POLICY }))).toEqual(['random-slices', 'newest-slices']);
    expect(listControlsFor(resolve(null))).toEqual([]);
  });

  test('have the sizes of the slices, of earlier turns alone, other ones, the same for a seed, or the newest', async () => {
    const workspace = createSampleWorkspace(world, undefined, createSource());
    try {
      const slice = buildSlice();
      const own = await openSlices(workspace, slice);
      const drawnAt = (seed: number) => openSlices(workspace.under({ ...control, seed }), slice);
      const random = await drawnAt(5);
      expect(random).toEqual(await drawnAt(5));
      expect(random).not.toEqual(await drawnAt(6));
      expect(random.map(({ length }) => length)).toEqual(own.map(({ length }) => length));
      for (const [query, list] of random.entries()) {
        expect(new Set(list).size).toBe(list.length);
        expect([...list]).toEqual([...list].toSorted((a, b) => a - b));
        expect(list.every((p) => p >= 0 && p < corpus.countEarlierTurns(queries[query]!.timestamp))).toBe(true);
      }
      const newest = await openSlices(workspace.under({ ...control, kind: 'newest-slices' }), slice);
      for (const [query, list] of newest.entries()) {
        const cutoff = corpus.countEarlierTurns(queries[query]!.timestamp);
        expect([...list]).toEqual(Array.from(own[query]!, (_, i) => cutoff - own[query]!.length + i));
      }
      const arm = resolve({ policy: POLICY });
      const { pool } = await retrieve(workspace, { ...arm, control: { ...control, seed: 5 } });
      for (const [query, list] of random.entries()) {
        const row = [...pool.positions.subarray(query * pool.width, (query + 1) * pool.width)].filter((p) => p >= 0);
        expect(row.toSorted((a, b) => a - b)).toEqual([...list]);
      }
    } finally {
      workspace.dispose();
    }
  });
});

test('an arm without a kernel is an error', async () => {
  const workspace = createSampleWorkspace(world);
  await expect(retrieve(workspace, resolve({ policy: POLICY }))).rejects.toThrow(AdmissibilityError);
  workspace.dispose();
});
