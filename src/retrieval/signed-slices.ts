import { AdmissibilityError } from '../admissibility/admissibility-error.ts';
import { sortIds } from '../admissibility/fingerprint.ts';
import { formatPolicyRef } from '../admissibility/policy.ts';
import type { SliceAuthority, SliceExport, SliceScope } from '../admissibility/slice-export.ts';
import type { SliceOptions } from '../admissibility/slice-options.ts';
import { SliceVerifier } from '../admissibility/slice-verifier.ts';
import type { Corpus } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import { defineStage, type Setting, type World } from '../signals/signal.ts';
import { drawRandomSlices } from '../signals/worlds/random-slices.ts';

/** A query that the policy refuses, since it has no anchor. */
export type SliceRefusal = Pick<SliceExport, 'policyRef' | 'scope' | 'issuedAt'> & { readonly refused: 'no-anchor' };

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

/** Checks the answers of a kernel to queries, each by itself and without the kernel. */
class AnswerChecks {
  readonly #slice: SliceOptions;
  readonly #verifier: SliceVerifier;

  constructor(slice: SliceOptions, setting: Pick<Setting, 'corpus' | 'findSliceTrust'>) {
    this.#slice = slice;
    this.#verifier = new SliceVerifier({ corpus: setting.corpus, ...setting.findSliceTrust(slice) });
  }

  /** @returns the positions that the query may see, ascending. @throws AdmissibilityError, naming the query. */
  verify(answer: SliceExport | SliceRefusal, query: Query): Int32Array {
    const { policy } = this.#slice;
    const { scope, asOf } = buildSliceRequest(this.#slice, query);
    try {
      if (!('refused' in answer))
        return this.#verifier.verify(answer, { policy, scope, asOf, first: null }, asOf).positions;
      this.#assertRefusal(answer, query);
      return new Int32Array();
    } catch (error) {
      if (!(error instanceof AdmissibilityError)) throw error;
      const { reason, message, facts } = error;
      throw new AdmissibilityError(reason, `query ${query.id}: ${message}`, { ...facts, query: query.id });
    }
  }

  /** A refusal is not signed: the policy must refuse the query. */
  #assertRefusal({ refused }: SliceRefusal, query: Query): void {
    const { policy } = this.#slice;
    const { corpus, lists } = this.#verifier;
    const cutoff = corpus.countEarlierTurns(query.timestamp);
    if (policy.unanchored === 'refuse' && lists.findAnchor(policy, buildScope(query), cutoff) === null) return;
    throw new AdmissibilityError(
      refused,
      `it is said to be refused by policy ${policy.id}, which gives a slice for it; ask the kernel again`,
    );
  }
}

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
    const { policyRef, scope, asOf } = buildSliceRequest(slice, query);
    return { refused: 'no-anchor', policyRef, scope, issuedAt: asOf };
  }
}

/** Asks for the slices of all queries, some at a time. The first failure ends it: a part of the slices is none. */
async function askForSlices(world: World, slice: SliceOptions): Promise<(SliceExport | SliceRefusal)[]> {
  const { queries } = world;
  const checks = new AnswerChecks(slice, world);
  const authority = await world.openSliceAuthority(slice);
  const bar = world.startProgress(`slices by ${slice.policy.id}`, queries.length);
  const answers: (SliceExport | SliceRefusal)[] = new Array(queries.length);
  let next = 0;
  let done = 0;
  const work = async () => {
    for (let at = next++; at < queries.length; at = next++) {
      const query = queries[at] as Query;
      const answer = await askForSlice(authority, slice, query);
      checks.verify(answer, query);
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

/** @param lists [Q] ascending positions. */
export function joinLists(lists: readonly ArrayLike<number>[], answers: readonly SliceAnswer[]): SignedSlices {
  const starts = new Int32Array(lists.length + 1);
  for (const [query, { length }] of lists.entries()) starts[query + 1] = (starts[query] as number) + length;
  const positions = new Int32Array(starts.at(-1) as number);
  for (const [query, list] of lists.entries()) positions.set(list, starts[query]);
  return { starts, positions, answers };
}

/** Slices as arrays of positions. */
function packSlices(slices: readonly (SliceExport | SliceRefusal)[], corpus: Corpus): SignedSlices {
  const findPosition = (id: string) => corpus.getPosition(id);
  const lists = slices.map((slice) =>
    'refused' in slice ? [] : slice.turnIds.map(findPosition).sort((a, b) => a - b),
  );
  const answers = slices.map((slice): SliceAnswer => {
    if ('refused' in slice) return slice;
    const { turnIds: _, ...answer } = slice;
    return answer;
  });
  return joinLists(lists, answers);
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
    const checks = new AnswerChecks(slice, shared);
    const { queries } = shared;
    const answers = restoreSlices(signed, shared.corpus);
    return new Map(queries.map((query, i) => [query.id, checks.verify(answers[i] as (typeof answers)[number], query)]));
  });
  const own = world.queries.map(({ id }) => lists.get(id) as Int32Array);
  const { control } = world;
  return control?.kind === 'random-slices' ? drawRandomSlices(own, world, world.controlSeed(control)) : own;
}
