import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { listConcepts } from '../../index/graph/graph-moment.ts';
import { listTurnConcepts } from '../signals/concept-list.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { conceptVectors, queryConcepts, shareConceptGraphs, turnConcepts } from '../signals/turn-concepts.ts';
import { Workspace } from '../signals/workspace.ts';
import { candidatesOfArm, parseArm } from './arms.fixture.ts';
import { retrieve } from './retriever.ts';

/** An arm whose sources are given in their order; what it ranks by is of no interest here. */
const describeArm = (search: object) => parseArm({ search, score: { cosine: {} }, fuse: { only: 'cosine' } });
const graph = { k: 13, seeds: { concepts: false } };
const [flat, newest, bm25] = [{ k: 5 }, { k: 7 }, { k: 9 }];

describe('the graph source of an arm', () => {
  const world = drawSampleWorld(3);
  let workspace: Workspace;
  beforeAll(async () => {
    await useBackend('wasm');
    workspace = createSampleWorkspace(world);
  });
  afterAll(() => workspace.dispose());

  /** What the last source of an arm finds. */
  const findLast = (search: object, of = workspace) => of.get(candidatesOfArm(describeArm(search)));

  test('finds nothing without other sources and without concepts of the query', async () => {
    expect((await findLast({ graph })).positions.every((position) => position === -1)).toBe(true);
  });

  test('starts at what the lexical and the dense sources found, not at the newest turns', async () => {
    const fromFlat = await findLast({ flat, graph });
    const first = await workspace.get(candidatesOfArm(parseArm({ search: { flat } })));
    for (const query of workspace.queries.keys()) {
      const found = fromFlat.positions.subarray(query * fromFlat.width, (query + 1) * fromFlat.width);
      const seeds = first.positions.subarray(query * first.width, (query + 1) * first.width);
      expect(found).toContain(seeds[0]);
    }
    expect(await findLast({ newest, flat, graph })).toEqual(fromFlat);
    expect(await findLast({ newest, graph })).toEqual(await findLast({ graph }));
    expect((await findLast({ flat, bm25, graph })).scores).not.toEqual(fromFlat.scores);
  });

  test('is another result for other seeds, so that no cache gives one for the other', () => {
    const readKey = (search: object) => workspace.plan.stage(candidatesOfArm(describeArm(search))).key;
    const keys = [{ graph }, { flat, graph }, { flat, bm25, graph }, { flat: { k: 4 }, graph }].map(readKey);
    expect(new Set(keys).size).toBe(4);
    expect(readKey({ newest, flat, graph })).toBe(readKey({ flat, graph }));
    expect(candidatesOfArm(describeArm({ flat, graph })).reads).toContain('vectors');
    expect(candidatesOfArm(describeArm({ graph })).reads).not.toContain('vectors');
  });

  test('takes the concepts of turns from one stage, which equal those of each text', async () => {
    await findLast({ flat, graph: { ...graph, damping: 0.4 } });
    await findLast({ flat, graph: { ...graph, damping: 0.6 } });
    expect(workspace.takeStageCounts().concepts?.executed).toBe(1);
    const concepts = listTurnConcepts(await workspace.get(turnConcepts('names')));
    expect(concepts).toEqual(workspace.corpus.turns.map(({ text }) => listConcepts(text)));
    expect(new Set(concepts.flat()).size).toBeGreaterThan(2);
  });

  test('builds one graph for sources that differ in seeds, scoring and weights', async () => {
    const own = createSampleWorkspace(world);
    try {
      const options = [
        {},
        { damping: 0.7 },
        { scoring: 'degree' },
        { edges: { reply: 0 } },
        { seeds: { titles: true } },
      ];
      for (const given of options) await findLast({ flat, graph: { ...graph, ...given } }, own);
      expect((await shareConceptGraphs(own)).built).toBe(1);
      await findLast({ flat, graph: { ...graph, edges: { similar: 1 } } }, own);
      expect((await shareConceptGraphs(own)).built).toBe(2);
    } finally {
      own.dispose();
    }
  });

  test('takes the concepts of queries from one stage, which equal those of each text', async () => {
    const asking = { ...graph, seeds: { concepts: true } };
    await findLast({ flat, graph: { ...asking, damping: 0.4 } });
    await findLast({ flat, graph: { ...asking, damping: 0.6 } });
    expect(workspace.takeStageCounts()['query-concepts']?.executed).toBe(1);
    const concepts = listTurnConcepts(await workspace.get(queryConcepts('names')));
    expect(concepts).toEqual(workspace.queries.map(({ text }) => listConcepts(text)));
    expect(new Set(concepts.flat()).size).toBeGreaterThan(0);
  });

  test('joins turns by noun phrases where these are its concepts', async () => {
    const { inputs } = candidatesOfArm(describeArm({ graph: { ...graph, concepts: 'phrases' } }));
    const named = Object.values(inputs(workspace)).map(({ name }) => name);
    expect(named).toContain('concepts');
    const concepts = listTurnConcepts(await workspace.get(turnConcepts('phrases')));
    expect(concepts).toEqual(workspace.corpus.turns.map(({ text }) => listConcepts(text, null, 'phrases')));
    expect(concepts).not.toEqual(listTurnConcepts(await workspace.get(turnConcepts('names'))));
    expect((await findLast({ flat, graph: { ...graph, concepts: 'phrases' } })).scores).not.toEqual(
      (await findLast({ flat, graph })).scores,
    );
  });

  test('takes concepts and triples of turns from a file, known by its content, and phrases of queries', async () => {
    const root = mkdtempSync(join(tmpdir(), 'ragpp-graph-source-'));
    const write = (name: string, joined: number) => {
      const lines = workspace.corpus.turns.map(({ id, text }, position) => {
        const concepts = listConcepts(text, null, 'phrases');
        const [subject, object] = concepts;
        const triples = position % joined === 0 && object ? [{ subject, relation: 'is', object }] : [];
        return { id, concepts, triples };
      });
      const header = { format: 'ragpp-concepts', version: 1, model: 'm', prompts: 'p', corpus: 'c' };
      writeFileSync(join(root, name), [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
      return { ...graph, concepts: { file: join(root, name) } };
    };
    const readKey = (source: object) => workspace.plan.stage(candidatesOfArm(describeArm({ flat, graph: source }))).key;
    const [one, same, other] = [write('one.jsonl', 1), write('same.jsonl', 1), write('other.jsonl', 2)];
    expect(readKey(one)).toBe(readKey(same));
    expect(readKey(one)).not.toBe(readKey(other));
    const edges = { mentions: 1, reply: 0, next: 0, relation: 1 };
    const joined = await findLast({ flat, graph: { ...one, edges, damping: 0.9 } });
    expect(joined.scores).not.toEqual((await findLast({ flat, graph: { ...other, edges, damping: 0.9 } })).scores);
    expect(await findLast({ flat, graph: one })).toEqual(
      await findLast({ flat, graph: { ...graph, concepts: 'phrases' } }),
    );
    const { inputs } = candidatesOfArm(describeArm({ graph: { ...one, seeds: { concepts: true } } }));
    const asked = Object.values(inputs(workspace)).find(({ name }) => name === 'query-concepts');
    expect(asked?.key(workspace)).toBe('phrases');
    rmSync(root, { recursive: true });
  });

  test('gives the concepts to the encoder once, each as of the first turn that mentions it', async () => {
    const asked: [string, string][] = [];
    const { corpus, queries, turnVectors, batch, dimension } = workspace;
    const encoding = new Workspace({
      corpus,
      queries,
      turnVectors,
      queryVectors: batch.vectors,
      dimension,
      seed: 5,
      encodeTexts: async (texts, owners) => {
        asked.push(...texts.map((text, i): [string, string] => [text, owners[i]?.id as string]));
        return { dimension: 2, vectors: Float32Array.from(texts.flatMap(() => [0, 1])) };
      },
    });
    const near = { ...graph, seeds: { concepts: true }, edges: { alias: 1 }, aliasCosine: 0.9 };
    const found = await findLast({ flat, graph: near }, encoding);
    await findLast({ flat, graph: { ...near, damping: 0.3 } }, encoding);
    const { names } = await encoding.get(conceptVectors('names'));
    const listed = corpus.turns.map(({ id, text }) => ({ id, concepts: listConcepts(text) }));
    const expected = names.map((name) => [name, listed.find(({ concepts }) => concepts.includes(name))?.id]);
    expect(asked).toEqual(expected);
    expect(found.scores).not.toEqual(
      (await findLast({ flat, graph: { ...near, aliasCosine: null } }, encoding)).scores,
    );
    expect(candidatesOfArm(describeArm({ graph: near })).reads).toContain('vectors');
    encoding.dispose();
  });

  test('has the graph of one conversation for a query that asks it alone', async () => {
    const queries = world.queries.map((query) => ({ ...query, conversationId: query.cluster }));
    const apart = createSampleWorkspace({ ...world, queries });
    const found = await findLast({ flat, graph: { ...graph, seeds: { concepts: true } } }, apart);
    const { conversationOf, conversations } = apart.corpus;
    for (const [i, position] of found.positions.entries())
      if (position >= 0)
        expect(conversations[conversationOf[position] as number]?.id).toBe(
          queries[Math.floor(i / found.width)]?.conversationId,
        );
    expect(found.positions.some((position) => position >= 0)).toBe(true);
    apart.dispose();
  });

  test('stands beside another one, each with its own walks, which start at neither', async () => {
    const near = { index: 'graph', ...graph, damping: 0.3 };
    const arm = parseArm({ search: { flat, graph, near }, fuse: 'pool-rrf' });
    expect(await workspace.get(candidatesOfArm(arm, 'graph'))).toEqual(await findLast({ flat, graph }));
    const found = await workspace.get(candidatesOfArm(arm, 'near'));
    expect(found).toEqual(await findLast({ flat, near }));
    const { components } = await retrieve(workspace, arm);
    expect(components.get('near')).not.toEqual(components.get('graph'));
  });
});
