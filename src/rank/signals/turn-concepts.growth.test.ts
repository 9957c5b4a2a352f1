import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { SensitiveTextError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { listConcepts } from '../../index/graph/graph-moment.ts';
import type { TextOwner } from '../../model/encoder.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { buildNewestPool } from './columns.harness.ts';
import { listTurnConcepts } from './concept-list.ts';
import { DIMENSION, drawSampleWorld } from './corpus.fixture.ts';
import { conceptVectors, listGraphRelations, turnConcepts, turnRelations } from './turn-concepts.ts';
import { Workspace } from './workspace.ts';

beforeAll(async () => void (await useBackend('wasm')));

const world = drawSampleWorld(3);
const sorted = new Corpus(world.turns);
const turns = sorted.turns.map((turn, position) => {
  const isLater = turn.parentId !== null && sorted.getPosition(turn.parentId) > position;
  return isLater ? { ...turn, parentId: null } : turn;
});
const readVectors = (owners: readonly { readonly id: string }[]) =>
  Float32Array.from(owners.flatMap(({ id }) => [...world.vectorOf.get(id)!]));

/** A workspace of the first turns; some queries ask one conversation. */
function openWorkspace(count: number, before?: Workspace): Workspace {
  const later = turns.slice(before?.corpus.size ?? 0, count);
  const corpus = new Corpus(later, before && { after: before.corpus });
  const ids = new Set(corpus.conversations.map(({ id }) => id));
  const asked = world.queries.map((query, i) =>
    i % 2 === 0 && ids.has(query.cluster) ? { ...query, conversationId: query.cluster } : query,
  );
  return new Workspace({
    ...{ corpus, queries: asked, turnVectors: readVectors(corpus.turns), queryVectors: readVectors(asked) },
    ...{ dimension: DIMENSION, seed: 5, ...(before && { before }) },
  });
}

async function readAll(workspace: Workspace) {
  const pool = await buildNewestPool(workspace, 19);
  const columns = [];
  for (const define of Object.values(listGraphRelations())) columns.push(await workspace.get(define(null), pool));
  const { names, offsets, indexes } = await workspace.get(turnConcepts('names'));
  return { columns, names: [...names], offsets: offsets.slice(), indexes: indexes.slice() };
}

test('concepts and places in the graph that grew with a workspace are those of a new one', async () => {
  const source = createRandom(1, 'batches');
  let grown: Workspace | undefined;
  let found = 0;
  for (let count = 31; count < turns.length; count += 1 + source.integer(17)) {
    const workspace: Workspace = openWorkspace(count, grown);
    grown?.dispose();
    grown = workspace;
    const fresh = openWorkspace(count);
    const all = await readAll(grown);
    expect(all).toEqual(await readAll(fresh));
    const lists = listTurnConcepts(await grown.get(turnConcepts('names')));
    expect(lists).toEqual(listTurnConcepts(await fresh.get(turnConcepts('names'))));
    found += all.columns.flatMap((column) => [...column]).filter((value) => value > 0).length;
    fresh.dispose();
  }
  grown?.dispose();
  expect(found).toBeGreaterThan(1000);
});

type Asked = Map<string, TextOwner>;

/** A vector of the letters of a text. */
function embedLetters(texts: readonly string[]): Float32Array {
  const rows = texts.map((text) =>
    Array.from({ length: 26 }, (_, i) => text.split(String.fromCharCode(97 + i)).length),
  );
  return Float32Array.from(rows.flatMap((row) => row.map((count) => count / Math.hypot(...row))));
}

/** A workspace of some turns that notes the last owner of each text, and refuses sensitive ones where it is remote. */
function openEncoding(some: readonly Turn[], asked: Asked, isRemote: boolean, before?: Workspace): Workspace {
  const corpus = new Corpus(some.slice(before?.corpus.size ?? 0), before && { after: before.corpus });
  return new Workspace({
    ...{ corpus, queries: [], turnVectors: null, queryVectors: new Float32Array(0), dimension: DIMENSION, seed: 5 },
    encodeTexts: async (texts, owners) => {
      const sensitive = owners.filter((owner) => owner.sensitive === true);
      if (isRemote && sensitive.length > 0) throw new SensitiveTextError('remote', sensitive.length, texts.length);
      for (const [i, text] of texts.entries()) asked.set(text, owners[i]!);
      return { dimension: 26, vectors: embedLetters(texts) };
    },
    ...(before && { before }),
  });
}

test.each([1, 2, 3])(
  'vectors of concepts that grew are those of a new workspace, and so are their owners (seed %i)',
  async (seed) => {
    const source = createRandom(seed, 'sensitive');
    const drawn = turns.map((turn) => (source.uniform() < 0.1 ? { ...turn, attributes: { sensitive: true } } : turn));
    const grownFor: Asked = new Map();
    let grown: Workspace | undefined;
    let embedded = 0;
    for (let count = seed - 1; count < drawn.length; count += 1 + source.integer(23)) {
      const workspace: Workspace = openEncoding(drawn.slice(0, count), grownFor, false, grown);
      grown?.dispose();
      grown = workspace;
      const freshFor: Asked = new Map();
      const fresh = openEncoding(drawn.slice(0, count), freshFor, false);
      const { names, ...vectors } = await grown.get(conceptVectors('phrases'));
      expect({ names: [...names], ...vectors }).toEqual(await fresh.get(conceptVectors('phrases')));
      expect(grownFor).toEqual(freshFor);
      embedded = names.length;
      fresh.dispose();
    }
    grown?.dispose();
    expect(embedded).toBeGreaterThan(20);
  },
);

test('a later sensitive turn with known concepts is refused as in a new workspace', async () => {
  const later = { ...turns[39]!, text: turns[3]!.text, attributes: { sensitive: true } };
  const some = [...turns.slice(0, 39), later];
  const before = openEncoding(some.slice(0, 39), new Map(), true);
  expect((await before.get(conceptVectors('phrases'))).names).not.toEqual([]);
  const refusals = [openEncoding(some, new Map(), true, before), openEncoding(some, new Map(), true)].map(
    async (workspace) => {
      const error: unknown = await workspace.get(conceptVectors('phrases')).catch((refusal: unknown) => refusal);
      workspace.dispose();
      return error;
    },
  );
  const [grown, fresh] = await Promise.all(refusals);
  expect(grown).toBeInstanceOf(SensitiveTextError);
  expect(grown).toEqual(fresh);
  before.dispose();
});

test('concepts and relations of a file that grew with a workspace are those of a new one', async () => {
  const root = mkdtempSync(join(tmpdir(), 'ragpp-file-growth-'));
  const file = join(root, 'concepts.jsonl');
  const lines = turns.map(({ id, text }) => {
    const concepts = listConcepts(text, null, 'phrases');
    const triples = concepts.slice(1).map((object, i) => ({ subject: concepts[i], relation: 'is', object }));
    return { id, concepts, triples };
  });
  const header = { format: 'ragpp-concepts', version: 1, model: 'm', prompts: 'p', corpus: 'c' };
  writeFileSync(file, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
  const read = async (workspace: Workspace) => {
    const lists = await Promise.all([turnConcepts, turnRelations].map((stage) => workspace.get(stage({ file }))));
    return [
      ...lists.map(({ names, offsets, indexes }) => [[...names], offsets.slice(), indexes.slice()]),
      lists.map(listTurnConcepts),
    ];
  };
  let grown: Workspace | undefined;
  for (let count = 0; count < turns.length; count += 29) {
    const workspace: Workspace = openWorkspace(count, grown);
    grown?.dispose();
    grown = workspace;
    const fresh = openWorkspace(count);
    expect(await read(grown)).toEqual(await read(fresh));
    fresh.dispose();
  }
  grown?.dispose();
  rmSync(root, { recursive: true });
});
