import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { buildNewestPool } from './columns.harness.ts';
import { listTurnConcepts } from './concept-list.ts';
import { DIMENSION, drawSampleWorld } from './corpus.fixture.ts';
import { listGraphRelations, turnConcepts } from './turn-concepts.ts';
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
