import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { drawMemories, GROWING_SOURCES } from '../../index/memories/growing-memories.fixture.ts';
import { indexOptions } from '../../index/registry.ts';
import type { Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { askedMemories, turnEntities } from '../signals/asked-memories.ts';
import { buildNewestPool } from '../signals/columns.harness.ts';
import { closedFactsSignal } from '../signals/curation.ts';
import { curationArmOptions } from '../signals/signal-options.ts';
import { Workspace } from '../signals/workspace.ts';
import { candidatesFrom } from './candidate-sources.ts';

beforeAll(() => useBackend('cpu'));

const COUNT = 61;
/** Questions that need no database. */
const SOURCES = GROWING_SOURCES.map((options) => indexOptions.parse(options)).filter(({ index }) => index !== 'domain');

const TEXTS = ['What did Ada and Bob do?', 'What is kai media?', 'What did Ada say on January 1 1970?', 'What now?'];

/** Each text at some moments, asked of all turns and of a conversation. */
function listQueries(corpus: Corpus): Query[] {
  const scopes = [{}, ...corpus.conversations.map(({ id }) => ({ conversationId: id }))];
  return [1, 9, COUNT].flatMap((timestamp) =>
    scopes.flatMap((scope, place) =>
      TEXTS.map((text, i) => ({
        ...{ id: `q${timestamp}.${place}.${i}`, text, timestamp, anchorTurnId: null, author: null, channel: null },
        ...{ split: 'test', cluster: 'c', ...scope },
      })),
    ),
  );
}

/** A workspace of turns that come after those of another. */
function openWorkspace(turns: readonly Turn[], before?: Workspace): Workspace {
  const corpus = new Corpus(turns.slice(before?.corpus.size ?? 0), before && { after: before.corpus });
  const vectors = {
    turnVectors: new Float32Array(corpus.size).fill(1),
    queryVectors: new Float32Array(0),
    dimension: 1,
  };
  return new Workspace({ corpus, queries: [], ...vectors, seed: 1, ...(before && { before }) });
}

const closedFacts = closedFactsSignal(curationArmOptions.parse({ facts: 'anyone' }));

/** Candidates of every source, what they ask, and which of the newest facts are closed. */
async function findAll(base: Workspace) {
  const queries = listQueries(base.corpus);
  const asking = base.asking({ queries, queryVectors: new Float32Array(queries.length) });
  const found = [];
  for (const options of SOURCES) found.push(await asking.get(candidatesFrom(options, null)));
  const asked = await asking.get(askedMemories(null));
  const { areGiven, entities } = await asking.get(turnEntities(null));
  const closed = await asking.get(closedFacts, await buildNewestPool(asking, 19));
  asking.dispose();
  return { found, asked, closed, areGiven, entities: [...entities] };
}

test.each([0, 7, 23, COUNT])(
  'sources that grow with a workspace find the same as those of a new one, with entities given from turn %i on',
  async (given) => {
    const source = createRandom(given, 'growth');
    const turns = drawMemories(COUNT, source, given);
    const seen = new Set<boolean>();
    let found = 0;
    let grown: Workspace | undefined;
    for (let count = given === 0 ? 0 : 1; count <= COUNT; count += 1 + source.integer(9)) {
      const workspace = openWorkspace(turns.slice(0, count), grown);
      grown?.dispose();
      grown = workspace;
      const fresh = openWorkspace(turns.slice(0, count));
      const all = await findAll(grown);
      expect(all).toEqual(await findAll(fresh));
      found += all.found.flatMap(({ positions }) => [...positions]).filter((position) => position >= 0).length;
      seen.add(all.areGiven);
      fresh.dispose();
    }
    grown?.dispose();
    expect(found).toBeGreaterThan(500);
    expect(seen).toEqual(new Set(given === COUNT ? [false] : [false, true]));
  },
);

test('entities that a turn of another conversation gives first count for a conversation that did not grow', async () => {
  const source = createRandom(1, 'other');
  const turns = drawMemories(31, source, 31);
  const last = { ...turns[0]!, id: 'u', conversationId: 'z', timestamp: 50, attributes: { entities: ['ada'] } };
  const before = openWorkspace(turns);
  expect((await findAll(before)).areGiven).toBe(false);
  const grown = openWorkspace([...turns, last], before);
  before.dispose();
  const fresh = openWorkspace([...turns, last]);
  const all = await findAll(grown);
  expect(all.areGiven).toBe(true);
  expect(all).toEqual(await findAll(fresh));
  for (const workspace of [grown, fresh]) workspace.dispose();
});

test.each([0, COUNT])(
  'a later turn costs no other turn a second reading, with entities from turn %i on',
  async (given) => {
    let reads = 0;
    const readAttributes = ({ attributes }: Turn) => {
      reads++;
      return attributes;
    };
    const count = (turn: Turn): Turn =>
      Object.defineProperty({ ...turn }, 'attributes', { get: () => readAttributes(turn) });
    const turns = drawMemories(COUNT, createRandom(given, 'reads'), given);
    const earlier = turns.slice(0, 53).map(count);
    const before = openWorkspace(earlier);
    await findAll(before);
    expect(reads).toBeGreaterThan(53);
    reads = 0;
    const grown = openWorkspace([...earlier, ...turns.slice(53)], before);
    before.dispose();
    await findAll(grown);
    expect(reads).toBe(0);
    grown.dispose();
  },
);
