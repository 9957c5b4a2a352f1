import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import type { SlicePolicy } from '../policies/policy.ts';
import { formatPolicyRef } from '../policies/policy-ref.ts';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';
import {
  type SliceAuthority,
  type SliceExport,
  type SliceScope,
  sliceScopeSchema,
} from '../signatures/slice-export.ts';
import type { AllowedTurns, ScopedQuery, ScopedTurn, SliceSearch } from '../slices/slice-search.ts';
import type { AskedSlice, VerifiedSlice } from './asked-slice.ts';
import type { SliceVerifier } from './slice-verifier.ts';

/** The signed slice that makes a turn admissible. */
export interface SliceProvenance {
  readonly level: 'first' | 'refined';
  readonly fingerprint: string;
}

/** The turns that a query may see, with the slice that lists each. It stays in the client: what searches gets copies. */
class Allowance {
  readonly #slices: readonly VerifiedSlice[];
  readonly #levelOf = new Map<string, number>();

  constructor(slices: readonly VerifiedSlice[]) {
    this.#slices = slices;
    for (const [level, { slice }] of slices.entries())
      for (const id of slice.turnIds) if (!this.#levelOf.has(id)) this.#levelOf.set(id, level);
  }

  copy(): AllowedTurns {
    const positions = new Set(this.#slices.flatMap((slice) => [...slice.positions]));
    return {
      positions: Int32Array.from(positions).sort(),
      turnIds: new Set(this.#levelOf.keys()),
      cutoff: Math.max(...this.#slices.map(({ cutoff }) => cutoff)),
    };
  }

  /** @returns copies. @throws AdmissibilityError for a turn that is in no slice. */
  check(part: string, turns: readonly ScopedTurn[]): ScopedTurn[] {
    const seen = new Set<string>();
    return turns.map(({ turnId, score }) => {
      if (!this.#levelOf.has(turnId))
        throw new AdmissibilityError(
          'bypassed',
          `${part} returned a turn outside the slice: ${turnId}; no result is given, let it return allowed turns only`,
          { turnId, part },
        );
      if (!Number.isFinite(score)) throw new NotFiniteError(`score of the ${part}`, `turn ${turnId}`, score);
      if (seen.has(turnId))
        throw new ValidationError(`${part} returned a turn twice: ${turnId}; let it return each once`, { turnId });
      seen.add(turnId);
      return { turnId, score };
    });
  }

  findProvenance(turnId: string): SliceProvenance {
    const level = this.#levelOf.get(turnId) as number;
    const { slice } = this.#slices[level] as VerifiedSlice;
    return { level: level === 0 ? 'first' : 'refined', fingerprint: slice.fingerprint };
  }
}

/** Scores the turns that were found again and returns some of them, best first. */
export type SliceRerank = (
  query: ScopedQuery,
  turns: readonly ScopedTurn[],
  signal?: AbortSignal,
) => Promise<readonly ScopedTurn[]> | readonly ScopedTurn[];

/** What a client needs. */
export interface SliceEnforcingClientOptions {
  readonly authority: SliceAuthority;
  readonly verifier: SliceVerifier;
  /** See `searchCandidates` and `searchVectors`. */
  readonly search: SliceSearch;
  readonly rerank?: SliceRerank;
  /** How many turns `rerank` gets; by default as many as the query asks for. */
  readonly depth?: number;
  readonly policy: SlicePolicy;
  /** Milliseconds since 1970, when a request names no moment. */
  readonly now?: () => number;
  /** Milliseconds of a clock that never goes back, for latencies. */
  readonly readTimer?: () => number;
}

/** A query in the scope of a slice. */
export interface SliceSearchRequest extends ScopedQuery {
  /** The number of turns to return. */
  readonly k: number;
  /** What the slice is asked for. Absent: null. */
  readonly scope: Partial<SliceScope>;
  /** The moment of the query in milliseconds since 1970, at which its slices are used too; absent or null: now. */
  readonly asOf?: number | null;
}

/** A turn of the results, and the slice that lists it. */
export interface SliceScopedTurn extends ScopedTurn {
  /** From 1. */
  readonly rank: number;
  readonly provenance: SliceProvenance;
}

/** The parts of a search that are timed; `total` is more than the sum of the others. */
export type SlicePart = 'slice' | 'verify' | 'search' | 'rerank' | 'total';

/** The turns of a query, all of them in slices that were verified. */
export interface SliceScopedResults {
  readonly queryId: string;
  readonly turns: readonly SliceScopedTurn[];
  readonly sliceExport: SliceExport;
  /** The second slice of a policy with two levels; null for none. */
  readonly refinedExport: SliceExport | null;
  /** Of both levels together. */
  readonly latencyMs: Readonly<Record<SlicePart, number>>;
}

/** Sums up what each part takes. */
class PartTimer {
  readonly spent: Record<SlicePart, number> = { slice: 0, verify: 0, search: 0, rerank: 0, total: 0 };
  readonly #read: () => number;

  constructor(read: () => number) {
    this.#read = read;
  }

  async time<T>(part: SlicePart, work: () => T | Promise<T>): Promise<T> {
    const started = this.#read();
    const result = await work();
    this.spent[part] += this.#read() - started;
    return result;
  }
}

/** What is the same for all steps of a search. */
interface Running {
  readonly query: ScopedQuery;
  readonly asked: AskedSlice;
  readonly depth: number;
  readonly timer: PartTimer;
  readonly signal: AbortSignal | undefined;
}

/**
 * Searches what a kernel allows and nothing else: asks for a slice, verifies it, searches with the slice as the allow-list, and checks every turn again on the way
 * out. With a policy of two levels it refines the slice around the first results and searches both slices together. It holds no secret.
 */
export class SliceEnforcingClient {
  readonly #options: SliceEnforcingClientOptions;
  readonly #policyRef: string;

  constructor(options: SliceEnforcingClientOptions) {
    this.#options = options;
    this.#policyRef = formatPolicyRef(options.policy);
  }

  /**
   * The best turns of a slice for a query.
   *
   * @throws AdmissibilityError, and gives no result, for a slice that is not accepted and for a turn that is in none; its `reason` names the check.
   * @throws ValidationError for a k that is no positive integer, and what the authority, the index and the reranking throw.
   */
  async search(request: SliceSearchRequest, signal?: AbortSignal): Promise<SliceScopedResults> {
    const { queryId, text, vector, k, asOf = null } = request;
    if (!Number.isInteger(k) || k < 1)
      throw new ValidationError(`k is not a positive integer: ${k}; pass a whole number from 1`, { k });
    const { policy, depth = k, readTimer = () => performance.now() } = this.#options;
    const timer = new PartTimer(readTimer);
    const scope = parse(sliceScopeSchema, request.scope, 'scope of a query');
    const asked = { policy, scope, asOf, first: null };
    const running = { query: { queryId, text, vector }, asked, depth: Math.max(k, depth), timer, signal };
    const { slices, turns } = await timer.time('total', () => this.#run(running));
    const [first, second] = slices as [VerifiedSlice, VerifiedSlice?];
    return {
      queryId,
      turns: turns.slice(0, k),
      ...{ sliceExport: first.slice, refinedExport: second?.slice ?? null },
      latencyMs: timer.spent,
    };
  }

  async #run(running: Running): Promise<{ slices: readonly VerifiedSlice[]; turns: SliceScopedTurn[] }> {
    const first = await this.#obtain(running, null);
    const firstTurns = await this.#search(running, new Allowance([first]));
    const second = await this.#refine(running, first, firstTurns);
    const slices = second === null ? [first] : [first, second];
    const allowance = new Allowance(slices);
    const found = second === null ? firstTurns : await this.#search(running, allowance);
    const turns = (await this.#rerank(running, allowance, found)).map((turn, i) => ({
      ...turn,
      rank: i + 1,
      provenance: allowance.findProvenance(turn.turnId),
    }));
    return { slices, turns };
  }

  /** Asks for a slice and verifies it. @param refine the slice to refine, and the results around which. */
  async #obtain(
    { asked, timer, signal }: Running,
    refine: { first: VerifiedSlice; around: readonly ScopedTurn[] } | null,
  ): Promise<VerifiedSlice> {
    const { authority, verifier, now = Date.now } = this.#options;
    const { scope, asOf } = asked;
    const around = refine?.around.map(({ turnId }) => turnId) ?? [];
    const request = {
      policyRef: this.#policyRef,
      scope,
      asOf,
      refine: refine && { slice: refine.first.slice, around },
    };
    const answer = await timer.time('slice', () => authority.slice(request, signal));
    return timer.time('verify', () =>
      verifier.verify(answer, { ...asked, first: refine?.first ?? null }, asOf ?? now()),
    );
  }

  /** @returns the second slice; null for a policy of one level, a query without an anchor, and without first results. */
  async #refine(running: Running, first: VerifiedSlice, turns: readonly ScopedTurn[]): Promise<VerifiedSlice | null> {
    const { hierarchy } = this.#options.policy;
    if (hierarchy === null || first.slice.anchorTurnId === null || turns.length === 0) return null;
    return this.#obtain(running, { first, around: turns.slice(0, hierarchy.around) });
  }

  async #search({ query, depth, timer, signal }: Running, allowance: Allowance): Promise<ScopedTurn[]> {
    const found = await timer.time('search', () => this.#options.search(query, allowance.copy(), depth, signal));
    return allowance.check('search', found);
  }

  async #rerank({ query, timer, signal }: Running, allowance: Allowance, turns: ScopedTurn[]): Promise<ScopedTurn[]> {
    const { rerank } = this.#options;
    if (rerank === undefined) return turns;
    return allowance.check('reranking', await timer.time('rerank', () => rerank(query, turns, signal)));
  }
}
