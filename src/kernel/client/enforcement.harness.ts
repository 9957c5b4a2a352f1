import { Bm25Index } from '../../index/words/bm25.ts';
import type { CandidateIndex, QueryBatch } from '../../model/candidates.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { Kernel } from '../authority/kernel.ts';
import { formatPolicyRef } from '../policies/policy-ref.ts';
import { buildPolicy, drawTurns } from '../policies/slices.fixture.ts';
import { generateKey, type KeyRing } from '../signatures/kernel-keys.ts';
import type { SliceAuthority, SliceExport, SliceRequestInput, SliceScope } from '../signatures/slice-export.ts';
import { searchCandidates } from '../slices/slice-search.ts';
import type { AskedSlice } from './asked-slice.ts';
import {
  SliceEnforcingClient,
  type SliceEnforcingClientOptions,
  type SliceSearchRequest,
} from './slice-enforcing-client.ts';
import { SliceVerifier, type SliceVerifierOptions } from './slice-verifier.ts';

export const turns = drawTurns(60);
export const corpus = new Corpus(turns);
export const policy = buildPolicy();
export const levelled = buildPolicy({ id: 'levelled', maxNodes: 24, minPriority: 0, hierarchy: {} });
export const wide = buildPolicy({ id: 'wide', maxNodes: 50, minPriority: 0 });
export const anchor = corpus.turns[30]!.id;
export const asOf = corpus.turns[50]!.timestamp;
export const keys: KeyRing = { keys: [generateKey()] };

/** A kernel over the sample. */
export const openKernel = (options: Partial<ConstructorParameters<typeof Kernel>[0]> = {}) =>
  new Kernel({ corpus, policies: [policy, levelled, wide], keys, allowAsOf: true, ...options });

export const kernel = openKernel();
export const publicKeys = kernel.keys.map(({ publicKey }) => publicKey);

export const openVerifier = (options: Partial<SliceVerifierOptions> = {}) =>
  new SliceVerifier({ publicKeys, corpus, ...options });

/** An index that counts its searches: a refused slice must reach none. */
export class CountedIndex extends Bm25Index {
  searches = 0;

  override search(queries: QueryBatch, k: number) {
    this.searches++;
    return super.search(queries, k);
  }
}

export const openIndex = () =>
  new CountedIndex(
    corpus.turns.map(({ id }) => id),
    corpus.turns.map(({ text }) => text),
  );

/** An authority that answers with what `change` makes of the answers of a kernel. */
export function answerWith(
  change: (slice: SliceExport, request: SliceRequestInput) => unknown,
  of: SliceAuthority = kernel,
): SliceAuthority {
  return {
    slice: async (request) => (await change(await of.slice(request), request)) as SliceExport,
    verify: (slice, at) => of.verify(slice, at),
  };
}

export function openClient(
  options: Partial<SliceEnforcingClientOptions> & { readonly index?: CandidateIndex } = {},
): SliceEnforcingClient {
  const { index = openIndex(), ...rest } = options;
  const search = searchCandidates(index, corpus);
  return new SliceEnforcingClient({ authority: kernel, verifier: openVerifier(), policy, search, ...rest });
}

/** A query that every turn of the sample matches. */
export const query: SliceSearchRequest = {
  ...{ queryId: 'q1', text: 'text', vector: new Float32Array(0), k: 7 },
  ...{ scope: { anchorTurnId: anchor }, asOf },
};

export const fullScope = (scope: Partial<SliceScope> = { anchorTurnId: anchor }): SliceScope => ({
  ...{ anchorTurnId: null, conversationId: null, author: null, channel: null },
  ...scope,
});

/** What {@link query} asks for. */
export const asked = (changes: Partial<AskedSlice> = {}): AskedSlice => ({
  ...{ policy, scope: fullScope(), asOf, first: null },
  ...changes,
});

/** The slice that a kernel gives for what is asked. */
export const ask = (
  of: Kernel,
  { policy: asked, scope, asOf: moment }: Omit<AskedSlice, 'first'>,
  refine: SliceRequestInput['refine'] = null,
): Promise<SliceExport> => of.slice({ policyRef: formatPolicyRef(asked), scope, asOf: moment, refine });
