import { SliceVerifier } from '../../kernel/client/slice-verifier.ts';
import { formatPolicyRef } from '../../kernel/policies/policy-ref.ts';
import { AdmissibilityError } from '../../kernel/signatures/admissibility-error.ts';
import type { SliceAuthority, SliceExport, SliceScope } from '../../kernel/signatures/slice-export.ts';
import type { SliceOptions } from '../../kernel/slices/slice-options.ts';
import type { Query } from '../../model/dataset.ts';
import type { World } from '../signals/signal.ts';
import type { SliceRefusal } from './packed-slices.ts';

/** Questions that a kernel is asked at the same time. */
const AT_ONCE = 8;

/** What a query asks a kernel: its slice as of its own moment. */
function buildSliceRequest({ policy }: Pick<SliceOptions, 'policy'>, query: Query) {
  return { policyRef: formatPolicyRef(policy), scope: buildScope(query), asOf: query.timestamp };
}

function buildScope({ anchorTurnId, conversationId, author, channel }: Query): SliceScope {
  return { anchorTurnId, conversationId: conversationId ?? null, author, channel };
}

/** Checks the answers of a kernel to queries, each by itself and without the kernel. */
export class AnswerChecks {
  readonly #slice: SliceOptions;
  readonly #verifier: SliceVerifier;

  private constructor(slice: SliceOptions, verifier: SliceVerifier) {
    this.#slice = slice;
    this.#verifier = verifier;
  }

  /** By the verifier of a world, which is made once, and again for turns that come later. */
  static async of(slice: SliceOptions, world: Pick<World, 'subcorpora' | 'findSliceTrust'>): Promise<AnswerChecks> {
    const { whole } = world.subcorpora;
    const inputs = { corpus: whole.corpus, publicKeys: world.findSliceTrust(slice).publicKeys };
    const verifier = await whole.keepOnce(
      ['slice verifier', inputs.publicKeys],
      () => new SliceVerifier(inputs),
      (before) => new SliceVerifier({ ...inputs, before }),
    );
    return new AnswerChecks(slice, verifier);
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
export async function askForSlices(world: World, slice: SliceOptions): Promise<(SliceExport | SliceRefusal)[]> {
  const { queries } = world;
  const checks = await AnswerChecks.of(slice, world);
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
