import { computeHash } from '../../core/hash/hash.ts';
import { parse } from '../../core/validation/validation.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { SlicePolicy } from '../policies/policy.ts';
import { formatPolicyRef } from '../policies/policy-ref.ts';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';
import { sortIds } from '../signatures/fingerprint.ts';
import { assertKeyRing, derivePublicKey, type KeyRing } from '../signatures/kernel-keys.ts';
import { computeLink, Signer } from '../signatures/signature.ts';
import {
  type SliceAuthority,
  type SliceExport,
  type SliceRequest,
  type SliceRequestInput,
  sliceRequestSchema,
} from '../signatures/slice-export.ts';
import { assertFingerprint, assertIdOrder, assertValidAt, findScopeDifference } from '../slices/slice-checks.ts';
import { type CacheUse, SliceCache } from '../slices/slice-search.ts';
import { admitConversations, type LevelledWalk, refineAround, walkSlice } from '../slices/slice-walk.ts';
import { TurnGraph } from '../slices/turn-graph.ts';

/** What a kernel needs. */
export interface KernelOptions {
  readonly corpus: Corpus;
  readonly policies: readonly SlicePolicy[];
  readonly keys: KeyRing;
  /**
   * A kernel of the corpus when it had fewer turns: where all others are later, only these are read. The kernel before
   * goes on as it is.
   */
  readonly before?: Kernel;
  /** Seconds that a slice is valid. */
  readonly validSeconds?: number;
  /** True if a request may name its moment, as experiments do; otherwise every slice is of now. */
  readonly allowAsOf?: boolean;
  /** The most turns of a slice, whatever the policy says. */
  readonly maxTurns?: number;
  /** The longest time of a walk; a walk that takes longer is refused. Null: no limit, since what a slice holds must not depend on a clock. */
  readonly maxWalkSeconds?: number | null;
  /** Slices that are kept. */
  readonly cacheEntries?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A public key, as a kernel shows it. */
export interface ShownKey {
  readonly keyId: string;
  /** 32 bytes of Ed25519 in hex. */
  readonly publicKey: string;
  readonly state: 'signing' | 'verifying';
}

/** A request, and what follows from it. */
interface Asked {
  readonly request: SliceRequest;
  readonly policy: SlicePolicy;
  readonly issuedAt: number;
  /** Turns before it exist. */
  readonly cutoff: number;
}

/** The one authority on what a query sees: it holds the conversations, the policies and the secrets. No embedding, text or index is part of it. */
export class Kernel implements SliceAuthority {
  readonly corpusVersion: string;
  readonly policyRefs: readonly string[];
  readonly #graph: TurnGraph;
  readonly #policies: ReadonlyMap<string, SlicePolicy>;
  #signers: ReadonlyMap<string, Signer> = new Map();
  #retired: ReadonlySet<string> = new Set();
  #keys: readonly ShownKey[] = [];
  readonly #options: Required<Omit<KernelOptions, 'corpus' | 'policies' | 'keys' | 'before'>>;
  readonly #cache: SliceCache;

  /** @throws ValidationError for keys of which not exactly one signs. */
  constructor({ corpus, policies, keys, before, ...options }: KernelOptions) {
    this.#options = {
      ...{ validSeconds: 300, allowAsOf: false, maxTurns: 1_000_000, maxWalkSeconds: null },
      ...{ cacheEntries: 10_000, now: Date.now },
      ...options,
    };
    this.useKeys(keys);
    this.#graph = new TurnGraph(corpus, before === undefined ? undefined : before.#graph);
    this.corpusVersion = this.#graph.lists.corpusVersion;
    this.#policies = new Map(policies.map((policy) => [formatPolicyRef(policy), policy]));
    this.policyRefs = [...this.#policies.keys()];
    this.#cache = new SliceCache(this.#options.cacheEntries);
  }

  /** Signs and verifies by other keys from now on. Slices of a key that is not among them are refused. @throws ValidationError, and keeps the keys that it has. */
  useKeys(keys: KeyRing): void {
    assertKeyRing(keys);
    const used = keys.keys.filter(({ state }) => state !== 'retired');
    // The signing key is the first.
    used.sort((a, b) => Number(b.state === 'signing') - Number(a.state === 'signing'));
    this.#signers = new Map(used.map((key) => [key.keyId, new Signer(key)]));
    this.#retired = new Set(keys.keys.filter(({ state }) => state === 'retired').map(({ keyId }) => keyId));
    this.#keys = used.map(({ keyId, privateKey, state }) => ({
      ...{ keyId, publicKey: derivePublicKey(privateKey) },
      state: state as ShownKey['state'],
    }));
  }

  /** Those that sign or verify; retired keys are not shown. */
  get keys(): readonly ShownKey[] {
    return this.#keys;
  }

  /** The number of turns of the corpus. */
  get turnCount(): number {
    return this.#graph.corpus.size;
  }

  /** How often a slice was known. */
  get cacheUse(): CacheUse {
    return this.#cache.use;
  }

  slice(input: SliceRequestInput): Promise<SliceExport> {
    return new Promise((resolve) => resolve(this.#slice(input)));
  }

  verify(slice: SliceExport, at: number | null): Promise<void> {
    return new Promise((resolve) => resolve(this.#verify(slice, this.#chooseMoment('at', at))));
  }

  /** The moment that a caller names, or now. @throws AdmissibilityError if callers name none: with a moment of the past an expired slice would pass. */
  #chooseMoment(name: 'asOf' | 'at', moment: number | null): number {
    const { allowAsOf, now } = this.#options;
    if (moment === null) return now();
    if (allowAsOf) return moment;
    throw new AdmissibilityError(
      'moment',
      `kernel knows no moment but now: ${name} is ${moment}; leave it out, or start the kernel with --as-of`,
      { [name]: moment },
    );
  }

  #slice(input: SliceRequestInput): SliceExport {
    const request = parse(sliceRequestSchema, input, 'request of a slice');
    const asked = this.#read(request);
    const { refine, scope } = request;
    const anchor = this.#graph.lists.findAnchor(asked.policy, scope, asked.cutoff);
    const first = refine === null ? null : this.#assertRefinable(asked, refine.slice, refine.around);
    const key = computeHash([request.policyRef, anchor, asked.cutoff, anchor === null && scope, first && refine]);
    const turnIds = this.#cache.getOrWalk(key, () => this.#listIds(asked, anchor, first));
    const [signer] = this.#signers.values() as unknown as [Signer];
    return signer.sign({
      anchorTurnId: anchor === null ? null : (this.#graph.corpus.turns[anchor]?.id as string),
      scope,
      policyRef: request.policyRef,
      turnIds: turnIds as string[],
      corpusVersion: this.corpusVersion,
      issuedAt: asked.issuedAt,
      expiresAt: asked.issuedAt + 1000 * this.#options.validSeconds,
      keyId: signer.keyId,
      previous: first === null ? null : computeLink(first),
    });
  }

  #read(request: SliceRequest): Asked {
    const { policyRef, asOf } = request;
    const policy = this.#policies.get(policyRef);
    if (policy === undefined)
      throw new AdmissibilityError(
        'unknown-policy',
        `kernel has no policy ${policyRef}; use one of ${this.policyRefs.join(', ')}`,
        { policyRef },
      );
    const issuedAt = this.#chooseMoment('asOf', asOf);
    return { request, policy, issuedAt, cutoff: this.#graph.corpus.countEarlierTurns(issuedAt) };
  }

  /** @returns the ids of a slice in the order of their bytes. */
  #listIds(asked: Asked, anchor: number | null, first: SliceExport | null): readonly string[] {
    const positions = this.#listPositions(asked, anchor, first);
    const { maxTurns } = this.#options;
    if (positions.length > maxTurns)
      throw new AdmissibilityError(
        'limit',
        `slice has more than ${maxTurns} turns: ${positions.length}; lower maxNodes of the policy or raise the limit of the kernel`,
        { turns: positions.length, maxTurns },
      );
    const { turns } = this.#graph.corpus;
    return Object.freeze(sortIds(positions.map((position) => turns[position]?.id as string)));
  }

  #listPositions(asked: Asked, anchor: number | null, first: SliceExport | null): readonly number[] {
    const { policy, cutoff, request } = asked;
    if (anchor === null) return this.#listUnanchored(asked);
    const { maxWalkSeconds } = this.#options;
    const walk = { graph: this.#graph, policy, anchors: [anchor], cutoff, maxSeconds: maxWalkSeconds };
    if (policy.hierarchy === null) return [...walkSlice(walk).keys()];
    if (first === null) return admitConversations(walk as LevelledWalk);
    const find = (id: string) => this.#graph.corpus.getPosition(id);
    const anchors = (request.refine?.around ?? []).slice(0, policy.hierarchy.around).map(find);
    return refineAround({ ...walk, anchors } as LevelledWalk, new Set(first.turnIds.map(find)));
  }

  #listUnanchored({ policy, cutoff, request }: Asked): readonly number[] {
    switch (policy.unanchored) {
      case 'refuse':
        throw new AdmissibilityError(
          'no-anchor',
          `query has no anchor, which policy ${policy.id} refuses: ${policy.anchor}; name an anchor, or set unanchored`,
          { anchor: policy.anchor },
        );
      case 'nothing':
        return [];
      case 'channel':
        return this.#graph.lists.list('channel', request.scope.channel, cutoff);
      case 'all':
        return Array.from({ length: cutoff }, (_, position) => position);
    }
  }

  /** The slice that a request refines. */
  #assertRefinable({ policy, request, issuedAt }: Asked, slice: SliceExport, around: readonly string[]): SliceExport {
    this.#verify(slice, issuedAt);
    const refuse = (what: string) =>
      new AdmissibilityError('chain', `${what}; ask for a first slice and refine that one`, {});
    if (policy.hierarchy === null) throw refuse(`policy ${policy.id} has no hierarchy`);
    if (slice.previous !== null) throw refuse('the slice is a refinement itself');
    if (slice.policyRef !== request.policyRef) throw refuse(`the slice is of policy ${slice.policyRef}`);
    if (slice.issuedAt !== issuedAt && request.asOf !== null) throw refuse('the slice is of another moment');
    if (findScopeDifference(slice.scope, request.scope) !== null) throw refuse('the slice is of another query');
    const outside = around.find((id) => !slice.turnIds.includes(id));
    if (outside !== undefined) throw refuse(`a first result is not in the slice: ${outside}`);
    return slice;
  }

  #verify(slice: SliceExport, at: number): void {
    const signer = this.#signers.get(slice.keyId);
    if (signer === undefined) {
      const [reason, what] = this.#retired.has(slice.keyId)
        ? (['key-retired', 'was retired'] as const)
        : (['key-untrusted', 'is none of this kernel'] as const);
      throw new AdmissibilityError(reason, `key of a slice ${what}: ${slice.keyId}; ask the kernel again`, {
        keyId: slice.keyId,
      });
    }
    assertFingerprint(slice);
    assertIdOrder(slice);
    if (!signer.hasMade(slice))
      throw new AdmissibilityError(
        'signature',
        'slice was altered: its token or its signature is not that of its content; ask again',
      );
    assertValidAt(slice, at);
    if (slice.corpusVersion !== this.corpusVersion)
      throw new AdmissibilityError(
        'stale',
        `slice is of another corpus: ${slice.corpusVersion}, the kernel has ${this.corpusVersion}; ask again`,
        { corpusVersion: slice.corpusVersion },
      );
  }
}
