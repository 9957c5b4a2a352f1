import type { Corpus } from '../../model/turns/corpus.ts';
import type { SlicePolicy } from '../policies/policy.ts';
import { formatPolicyRef } from '../policies/policy-ref.ts';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';
import { computeLink } from '../signatures/signature.ts';
import type { SliceExport, SliceScope } from '../signatures/slice-export.ts';
import type { TurnLists } from '../slices/anchors.ts';
import { findScopeDifference } from '../slices/slice-checks.ts';

/** What a slice must be, from the side that asked for it. */
export interface AskedSlice {
  readonly policy: SlicePolicy;
  readonly scope: SliceScope;
  /** The moment of the query in milliseconds since 1970; null: the slice is of its own moment. */
  readonly asOf: number | null;
  /** The slice that it refines; null for a first slice. */
  readonly first: VerifiedSlice | null;
}

/** A slice that was verified: a copy, which nothing changes. */
export interface VerifiedSlice {
  readonly slice: SliceExport;
  /** Positions in the corpus of its turns, ascending: what `QueryBatch.visible` takes. */
  readonly positions: Int32Array;
  /** How many turns of the corpus are strictly earlier than the slice. */
  readonly cutoff: number;
}

/** What the side that asked knows of the turns. */
export interface KnownTurns {
  readonly corpus: Corpus;
  readonly lists: TurnLists;
}

const AGAIN = 'ask the kernel again';

/**
 * Checks that a slice is the one that was asked for: its policy, moment, scope, anchor, chain and size. The kernel is not trusted blindly: no turn may be later
 * than the slice, and the slice has at most as many turns as the policy allows.
 *
 * @param positions of its turns, ascending.
 * @returns how many turns are strictly earlier than the slice.
 * @throws AdmissibilityError.
 */
export function assertAsked(slice: SliceExport, asked: AskedSlice, positions: Int32Array, known: KnownTurns): number {
  assertPolicy(slice, asked);
  const cutoff = assertMoment(slice, asked, positions, known);
  assertScope(slice, asked);
  assertAnchor(slice, asked, cutoff, known);
  assertChain(slice, asked);
  assertBudget(slice, asked, cutoff, known);
  return cutoff;
}

const policyRefs = new WeakMap<SlicePolicy, string>();

function assertPolicy({ policyRef }: SliceExport, { policy }: AskedSlice): void {
  const asked = policyRefs.get(policy) ?? formatPolicyRef(policy);
  policyRefs.set(policy, asked);
  if (policyRef !== asked)
    throw new AdmissibilityError('policy', `slice is of policy ${policyRef}: ${asked} was asked for; ${AGAIN}`, {
      policyRef,
      asked,
    });
}

function assertMoment(
  { issuedAt }: SliceExport,
  { asOf }: AskedSlice,
  positions: Int32Array,
  { corpus }: KnownTurns,
): number {
  if (asOf !== null && issuedAt !== asOf)
    throw new AdmissibilityError('moment', `slice is of the moment ${issuedAt}: ${asOf} was asked for; ${AGAIN}`, {
      issuedAt,
      asOf,
    });
  const cutoff = corpus.countEarlierTurns(issuedAt);
  const last = positions.at(-1) ?? -1;
  if (last < cutoff) return cutoff;
  const turnId = corpus.turns[last]?.id as string;
  throw new AdmissibilityError(
    'moment',
    `slice lists a turn that is not strictly earlier: ${turnId}; do not use this kernel`,
    { turnId, issuedAt },
  );
}

function assertScope(slice: SliceExport, { scope }: AskedSlice): void {
  const field = findScopeDifference(slice.scope, scope);
  if (field === null) return;
  const [found, expected] = [slice.scope[field], scope[field]].map((value) => JSON.stringify(value));
  throw new AdmissibilityError(
    'scope',
    `slice is of another scope, with ${field} ${found}: ${expected} was asked for; ${AGAIN}`,
    { field },
  );
}

function assertAnchor(
  { anchorTurnId }: SliceExport,
  { policy, scope }: AskedSlice,
  cutoff: number,
  { corpus, lists }: KnownTurns,
): void {
  const anchor = lists.findAnchor(policy, scope, cutoff);
  const expected = anchor === null ? null : (corpus.turns[anchor]?.id as string);
  if (anchorTurnId !== expected)
    throw new AdmissibilityError('scope', `slice has the anchor ${anchorTurnId}: it must be ${expected}; ${AGAIN}`, {
      anchorTurnId,
      expected,
    });
}

function assertChain({ previous }: SliceExport, { first }: AskedSlice): void {
  const expected = first === null ? null : computeLink(first.slice);
  if (previous !== expected)
    throw new AdmissibilityError(
      'chain',
      `slice refines ${previous ?? 'no slice'}: it must refine ${expected ?? 'none'}; ${AGAIN}`,
      { previous, expected },
    );
}

function assertBudget(slice: SliceExport, asked: AskedSlice, cutoff: number, known: KnownTurns): void {
  const most = countMost(slice, asked, cutoff, known);
  const { turnIds } = slice;
  const turns = asked.first === null ? turnIds.length : new Set([...asked.first.slice.turnIds, ...turnIds]).size;
  if (turns > most)
    throw new AdmissibilityError(
      'budget',
      `slice has ${turns} turns with the one that it refines: policy ${slice.policyRef} allows ${most}; do not use this kernel`,
      { turns, most },
    );
}

/** The most turns that a policy gives a query. */
function countMost(
  { anchorTurnId }: SliceExport,
  { policy, scope }: AskedSlice,
  cutoff: number,
  { lists }: KnownTurns,
): number {
  if (anchorTurnId !== null) return policy.maxNodes;
  if (policy.unanchored === 'all') return cutoff;
  return policy.unanchored === 'channel' ? lists.list('channel', scope.channel, cutoff).length : 0;
}
