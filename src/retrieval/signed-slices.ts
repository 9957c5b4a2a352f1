import type { KeyObject } from 'node:crypto';
import { AdmissibilityError } from '../admissibility/admissibility-error.ts';
import { TurnLists } from '../admissibility/anchors.ts';
import { computeCorpusVersion } from '../admissibility/corpus-version.ts';
import { sortIds } from '../admissibility/fingerprint.ts';
import { computeKeyId, readPublicKey } from '../admissibility/kernel-keys.ts';
import { formatPolicyRef } from '../admissibility/policy.ts';
import { isSignedBy } from '../admissibility/signature.ts';
import { assertFingerprint, assertIdOrder, assertValidAt } from '../admissibility/slice-checks.ts';
import type { SliceAuthority, SliceExport, SliceScope } from '../admissibility/slice-export.ts';
import type { SliceOptions } from '../admissibility/slice-options.ts';
import { TurnGraph } from '../admissibility/turn-graph.ts';
import type { Corpus } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import { defineStage, type Setting, type World } from '../signals/signal.ts';
import { drawRandomSlices } from '../signals/worlds/random-slices.ts';

/** A query that the policy refuses, since it has no anchor. */
export type SliceRefusal = { readonly refused: 'no-anchor'; readonly message: string };

/** A slice without its ids, or why there is none. */
export type SliceAnswer = Omit<SliceExport, 'turnIds'> | SliceRefusal;

/** The answers of a kernel to Q queries. */
export type SignedSlices = {
  /** [Q + 1] where the turns of each query begin in `positions`. */
  readonly starts: Int32Array;
  /** Corpus positions, ascending within a query. */
  readonly positions: Int32Array;
  /** [Q] */
  readonly answers: readonly SliceAnswer[];
};

/** Questions that a kernel is asked at the same time. */
const AT_ONCE = 8;

/** What a query asks a kernel: its slice as of its own moment. */
export function buildSliceRequest({ policy }: Pick<SliceOptions, 'policy'>, query: Query) {
  return { policyRef: formatPolicyRef(policy), scope: buildScope(query), asOf: query.timestamp };
}

function buildScope({ anchorTurnId, conversationId, author, channel }: Query): SliceScope {
  return { anchorTurnId, conversationId: conversationId ?? null, author, channel };
}

export function isRefusal(answer: SliceAnswer): answer is SliceRefusal {
  return 'refused' in answer;
}

/** [Q] the positions of each query's slice, ascending: views. */
export function listSlicePositions({ starts, positions, answers }: SignedSlices): Int32Array[] {
  return answers.map((_, query) => positions.subarray(starts[query], starts[query + 1]));
}

/** [Q] the slices as they were signed; a refusal is itself. */
export function restoreSlices(signed: SignedSlices, { turns }: Pick<Corpus, 'turns'>): (SliceExport | SliceRefusal)[] {
  return listSlicePositions(signed).map((positions, query) => {
    const answer = signed.answers[query] as SliceAnswer;
    if (isRefusal(answer)) return answer;
    return { ...answer, turnIds: sortIds(Array.from(positions, (position) => turns[position]?.id as string)) };
  });
}

/** @throws AdmissibilityError for an id that is no turn of the corpus. */
function findPositions({ turnIds }: SliceExport, corpus: Corpus): Int32Array {
  const unknown = turnIds.find((id) => !corpus.has(id));
  if (unknown !== undefined)
    throw new AdmissibilityError(
      'unknown-turn',
      `slice has a turn that the dataset has not: ${unknown}; start the kernel with the same dataset`,
      { turnId: unknown },
    );
  return Int32Array.from(turnIds, (id) => corpus.getPosition(id)).sort();
}

/** Checks the answers of one kernel to the queries of one corpus, each by itself and without the kernel. */
class SliceChecks {
  readonly #slice: SliceOptions;
  readonly #corpus: Corpus;
  readonly #corpusVersion: string;
  readonly #publicKeys: ReadonlyMap<string, KeyObject>;
  readonly #lists: TurnLists;

  constructor(slice: SliceOptions, setting: Pick<Setting, 'corpus' | 'findSliceTrust'>) {
    this.#slice = slice;
    this.#corpus = setting.corpus;
    this.#corpusVersion = computeCorpusVersion(setting.corpus);
    const { publicKeys } = setting.findSliceTrust(slice);
    this.#publicKeys = new Map(publicKeys.map((key) => [computeKeyId(key), readPublicKey(key)]));
    this.#lists = new TurnLists(new TurnGraph(setting.corpus));
  }

  /** @throws AdmissibilityError, naming the query. */
  assert(answer: SliceExport | SliceRefusal, query: Query): void {
    try {
      if ('refused' in answer) this.#assertRefusal(answer, query);
      else this.#assertSlice(answer, query);
    } catch (error) {
      if (!(error instanceof AdmissibilityError)) throw error;
      const { reason, message, facts } = error;
      throw new AdmissibilityError(reason, `query ${query.id}: ${message}`, { ...facts, query: query.id });
    }
  }

  /** A refusal is not signed: the policy must refuse the query. */
  #assertRefusal({ refused }: SliceRefusal, query: Query): void {
    const { policy } = this.#slice;
    const cutoff = this.#corpus.countEarlierTurns(query.timestamp);
    if (policy.unanchored === 'refuse' && this.#lists.findAnchor(policy, buildScope(query), cutoff) === null) return;
    throw new AdmissibilityError(
      refused,
      `it is said to be refused by policy ${policy.id}, which gives a slice for it; ask the kernel again`,
    );
  }

  #assertSlice(slice: SliceExport, query: Query): void {
    assertFingerprint(slice);
    assertIdOrder(slice);
    const key = this.#publicKeys.get(slice.keyId);
    if (key === undefined)
      throw new AdmissibilityError(
        'key-untrusted',
        `slice is signed by a key that is not trusted: ${slice.keyId}; set slice.publicKey to the key of the kernel`,
        { keyId: slice.keyId },
      );
    if (!isSignedBy(slice, key))
      throw new AdmissibilityError(
        'signature',
        'slice was altered: the signature is not that of its content; ask again',
      );
    this.#assertAnswers(slice, query);
    assertValidAt(slice, query.timestamp);
  }

  /** Whether the slice is what the query asked for. */
  #assertAnswers(slice: SliceExport, query: Query): void {
    const { policyRef, scope, asOf } = buildSliceRequest(this.#slice, query);
    const expected = { policy: policyRef, corpus: this.#corpusVersion, scope: JSON.stringify(scope), moment: asOf };
    const got: typeof expected = {
      ...{ policy: slice.policyRef, corpus: slice.corpusVersion },
      ...{ scope: JSON.stringify(sortScope(slice.scope)), moment: slice.issuedAt },
    };
    for (const part of ['policy', 'corpus', 'scope', 'moment'] as const)
      if (got[part] !== expected[part])
        throw new AdmissibilityError(
          part,
          `slice is of another ${part}: expected ${expected[part]}, got ${got[part]}; ask the kernel for this query`,
        );
  }
}

const sortScope = ({ anchorTurnId, conversationId, author, channel }: SliceScope): SliceScope => ({
  ...{ anchorTurnId, conversationId, author, channel },
});

/** @returns a slice that was checked, or the refusal. */
async function askForSlice(
  authority: SliceAuthority,
  slice: SliceOptions,
  query: Query,
): Promise<SliceExport | SliceRefusal> {
  try {
    return await authority.slice(buildSliceRequest(slice, query));
  } catch (error) {
    if (!(error instanceof AdmissibilityError) || error.reason !== 'no-anchor') throw error;
    return { refused: 'no-anchor', message: error.message };
  }
}

/** Asks for the slices of all queries, some at a time. The first failure ends it: a part of the slices is none. */
async function askForSlices(world: World, slice: SliceOptions): Promise<(SliceExport | SliceRefusal)[]> {
  const { queries } = world;
  const checks = new SliceChecks(slice, world);
  const authority = await world.openSliceAuthority(slice);
  const bar = world.startProgress(`slices by ${slice.policy.id}`, queries.length);
  const answers: (SliceExport | SliceRefusal)[] = new Array(queries.length);
  let next = 0;
  let done = 0;
  const work = async () => {
    for (let at = next++; at < queries.length; at = next++) {
      const query = queries[at] as Query;
      const answer = await askForSlice(authority, slice, query);
      checks.assert(answer, query);
      answers[at] = answer;
      bar.update(++done);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    next = queries.length;
  }
  bar.finish(`${queries.length} queries`);
  return answers;
}

/** Slices as arrays of positions. */
export function packSlices(slices: readonly (SliceExport | SliceRefusal)[], corpus: Corpus): SignedSlices {
  const lists = slices.map((slice) => ('refused' in slice ? new Int32Array() : findPositions(slice, corpus)));
  const starts = new Int32Array(slices.length + 1);
  for (const [query, { length }] of lists.entries()) starts[query + 1] = (starts[query] as number) + length;
  const positions = new Int32Array(starts.at(-1) as number);
  for (const [query, list] of lists.entries()) positions.set(list, starts[query]);
  const answers = slices.map((slice): SliceAnswer => {
    if ('refused' in slice) return slice;
    const { turnIds: _, ...answer } = slice;
    return answer;
  });
  return { starts, positions, answers };
}

/** The signed slices of all queries. What a stage keeps is not trusted: {@link openSlices} checks it. */
export const signedSlices = defineStage<SliceOptions, SignedSlices>({
  name: 'slices',
  module: import.meta.url,
  of: 'queries',
  isShared: true,
  reads: [],
  // The corpus and the queries are part of every key. Where the kernel listens is not.
  key: ({ policy, ...slice }, setting) => [policy, setting.findSliceTrust({ policy, ...slice })],
  compute: async ({ world }, slice) => packSlices(await askForSlices(world, slice), world.corpus),
});

/**
 * [Q] the positions that each query of a world may see, ascending, after the signature of every slice was checked at the moment of its query.
 *
 * @throws AdmissibilityError, naming the query.
 */
export async function openSlices(world: World, slice: SliceOptions): Promise<Int32Array[]> {
  const { shared } = world;
  const signed = await shared.get(signedSlices(slice));
  const lists = await shared.keepOnce(['checked slices', slice], () => {
    const checks = new SliceChecks(slice, shared);
    for (const [query, answer] of restoreSlices(signed, shared.corpus).entries())
      checks.assert(answer, shared.queries[query] as Query);
    return new Map(listSlicePositions(signed).map((list, query) => [shared.queries[query]?.id as string, list]));
  });
  const own = world.queries.map(({ id }) => lists.get(id) as Int32Array);
  const { control } = world;
  return control?.kind === 'random-slices' ? drawRandomSlices(own, world, world.controlSeed(control)) : own;
}
