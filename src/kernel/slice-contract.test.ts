import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requirePackages } from '../core/required-packages.harness.ts';
import { useBackend } from '../core/tensors/backend.ts';
import { viewRow } from '../core/tensors/rows.ts';
import { drawContractCorpus, drawContractQueries } from '../index/candidates/contract-sample.fixture.ts';
import { openWordTokens } from '../index/encoders/word-tokens.fixture.ts';
import { MEMORY_SOURCES } from '../index/memories/memory-options.ts';
import { createIndex, INDEXES, type IndexInput } from '../index/registry.ts';
import { openVectorIndex, VECTOR_INDEXES, type VectorIndexInput } from '../index/vectors/registry.ts';
import { Corpus } from '../model/turns/corpus.ts';
import { Kernel } from './authority/kernel.ts';
import { SliceEnforcingClient } from './client/slice-enforcing-client.ts';
import { SliceVerifier } from './client/slice-verifier.ts';
import { buildPolicy, makeKeys } from './policies/slices.fixture.ts';
import { type SliceSearch, searchCandidates, searchVectors } from './slices/slice-search.ts';

const [N, Q, K] = [211, 2, 5];
const SIZES = [5, 23, N];

const sample = drawContractCorpus(N);
const drawn = drawContractQueries(Q, N);
/** One word is a name, in common with every query: what walks from concept to turn reaches all turns. */
const nameIn = (text: string) => `${text}, said Hannibal`;
const queries = drawn.texts.map((text, i) => ({
  ...{ queryId: drawn.ids?.[i] as string, text: nameIn(text) },
  vector: viewRow(drawn.vectors, sample.dimension, i),
}));
/** A binary tree of replies in time order: a walk meets as many turns as it may. */
const corpus = new Corpus(
  sample.ids.map((id, i) => ({
    ...{ id, conversationId: 'c', parentId: i === 0 ? null : (sample.ids[(i - 1) >> 1] as string) },
    ...{ timestamp: i, author: null, channel: null, text: nameIn(sample.texts[i] as string) },
  })),
);
const anchorTurnId = sample.ids[60] as string;

const policies = SIZES.map((maxNodes) => buildPolicy({ id: `of-${maxNodes}`, maxNodes, minPriority: 0 }));
const kernel = new Kernel({ corpus, policies, keys: makeKeys(), allowAsOf: true });
const publicKeys = kernel.keys.map(({ publicKey }) => publicKey);
const verifier = new SliceVerifier({ publicKeys, corpus });

beforeAll(async () => void (await useBackend('cpu')));

const root = mkdtempSync(join(tmpdir(), 'ragpp-slices-'));
afterAll(() => rmSync(root, { recursive: true }));

/** The rankings of another system, of every turn for every query. */
function writeRun(): string {
  const path = join(root, 'run.trec');
  const lines = queries.flatMap(({ queryId }) =>
    sample.ids.map((id, i) => `${queryId} Q0 ${id} ${i + 1} ${N - i} s\n`),
  );
  writeFileSync(path, lines.join(''));
  return path;
}

/** What an index needs besides its name. */
const NEEDED: Readonly<Record<string, object>> = { run: { path: writeRun() } };

async function openCandidates(index: string): Promise<[SliceSearch, () => unknown]> {
  const context = { corpus, vectors: sample.vectors, tokens: await openWordTokens() };
  const made = await createIndex({ index, ...NEEDED[index] } as IndexInput, context);
  return [searchCandidates(made, corpus), () => made.dispose()];
}

async function openLive(index: string): Promise<[SliceSearch, () => unknown]> {
  const made = await openVectorIndex({ index } as VectorIndexInput, sample.dimension);
  await made.upsert(sample.ids.map((id, i) => ({ id, vector: viewRow(sample.vectors, sample.dimension, i) })));
  return [searchVectors(made), () => made.dispose()];
}

const isInstalled = {
  pgvector: requirePackages('PGlite').isInstalled,
  usearch: requirePackages('usearch').isInstalled,
} as Readonly<Record<string, boolean>>;
const canOpen = (name: string) => isInstalled[name] !== false;
const kinds: [string, () => Promise<[SliceSearch, () => unknown]>][] = [
  // What a source of memories finds depends on what is asked, not on the slice alone.
  ...INDEXES.names
    .filter((name) => ![...MEMORY_SOURCES, 'facts', 'domain'].includes(name) && canOpen(name))
    .map((name) => [name, () => openCandidates(name)] as (typeof kinds)[number]),
  ...VECTOR_INDEXES.names
    .filter(canOpen)
    .map((name) => [`live ${name}`, () => openLive(name)] as (typeof kinds)[number]),
];

describe.each(kinds)('slices contract: %s', (_, open) => {
  test('finds k turns wherever the slice has k, and the whole slice where more are asked for', async () => {
    const [search, close] = await open();
    for (const [i, policy] of policies.entries()) {
      const size = SIZES[i] as number;
      const client = new SliceEnforcingClient({ authority: kernel, verifier, search, policy });
      for (const query of queries)
        for (const k of [K, size + 2]) {
          const { turns, sliceExport } = await client.search({ ...query, k, scope: { anchorTurnId }, asOf: N });
          expect(sliceExport.turnIds.length).toBe(size);
          const found = turns.map(({ turnId }) => turnId);
          expect(new Set(found).size, `${query.queryId}, slice of ${size}, k ${k}`).toBe(Math.min(k, size));
          expect(found.filter((id) => !sliceExport.turnIds.includes(id))).toEqual([]);
        }
    }
    await close();
  });
});
