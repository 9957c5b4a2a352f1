import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Corpus } from '../../model/turns/corpus.ts';
import { FactClosings } from '../../model/turns/fact-closings.ts';
import type { FactCloser } from '../../model/turns/memory-fields.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { FactGraph } from '../graph/fact-graph.ts';
import { createIndex } from '../registry.ts';

function buildTurn(position: number, fact: string | null, author = 'ann'): Turn {
  const [subject, predicate, object] = fact?.split(' ') ?? [];
  const attributes = fact === null ? {} : { memoryType: 'semantic', subject, predicate, object };
  const shape = { id: `t${position}`, conversationId: 'c', parentId: null, channel: null, text: fact ?? 'hello' };
  return { ...shape, timestamp: position, author, attributes } as Turn;
}

const listTurns = (facts: readonly (string | null)[]) => facts.map((fact, at) => buildTurn(at, fact));

function closeFacts(turns: readonly Turn[], by: FactCloser): Int32Array {
  const closings = new FactClosings(by);
  for (const turn of turns) closings.add(turn);
  return closings.closedAt;
}

/** The facts that a question about some names finds, as of a moment. */
async function findFacts(turns: readonly Turn[], names: string[], moment: number, asked: object = {}, options = {}) {
  const index = await createIndex(
    { index: 'facts', ...options },
    { corpus: new Corpus(turns), vectors: new Float32Array(turns.length) },
  );
  const { positions } = await index.search(
    {
      ...{ texts: ['x'], vectors: Float32Array.of(1), cutoffs: Int32Array.of(moment) },
      asked: [{ entities: names, window: null, procedural: false, ...asked }],
    },
    5,
  );
  index.dispose();
  return [...positions].filter((position) => position >= 0);
}

test('the source finds the facts about a name that hold at the moment, or held in the time asked for', async () => {
  const turns = listTurns(['Ada city Rome', 'bob city oslo', null, 'Ada city Oslo', 'ada car fiat']);
  expect(await findFacts(turns, ['ada'], 5)).toEqual([4, 3]);
  expect(await findFacts(turns, ['ada', 'oslo'], 5)).toEqual([3, 4, 1]);
  expect(await findFacts(turns, ['ada'], 3)).toEqual([0]);
  expect(await findFacts(turns, ['ada'], 5, { window: { start: 1, end: 2 } })).toEqual([0]);
  expect(await findFacts(turns, ['ada'], 5, { window: { start: 2, end: 3 } })).toEqual([3, 0]);
  expect(await findFacts(turns, ['eve'], 5)).toEqual([]);
  const others = ['ann', 'ben'].map((author, at) => buildTurn(at, `ada city ${'xy'[at]}`, author));
  expect(await findFacts(others, ['ada'], 2)).toEqual([1]);
  expect(await findFacts(others, ['ada'], 2, {}, { closedBy: 'author' })).toEqual([1, 0]);
});

test('another object closes every open statement of a subject and predicate, and a repetition none', () => {
  const turns = listTurns(['ada city rome', null, 'ada city rome', 'bob city oslo', 'ada city oslo', 'ada city rome']);
  expect([...closeFacts(turns, 'anyone')]).toEqual([4, -1, 4, -1, 5, -1]);
});

test('by author, a statement of somebody else closes nothing', () => {
  const turns = ['ann', 'ben', 'ann'].map((author, at) => buildTurn(at, `ada city ${'xyz'[at]}`, author));
  expect([...closeFacts(turns, 'author')]).toEqual([2, -1, -1]);
  expect([...closeFacts(turns, 'anyone')]).toEqual([1, 2, -1]);
});

test('turns that are no facts, or a triple in words of their own, are left alone', () => {
  const loose = { ...buildTurn(0, null), attributes: { subject: 'ada', predicate: 'city', object: 'rome' } };
  expect([...closeFacts([loose, buildTurn(1, 'ada city oslo')], 'anyone')]).toEqual([-1, -1]);
});

test('as of any moment the same facts hold as in a fact graph on two timelines', () => {
  const letter = fc.constantFrom('a', 'b');
  const facts = fc.array(fc.tuple(letter, letter, letter), { minLength: 1, maxLength: 24 });
  fc.assert(
    fc.property(facts, (triples) => {
      const graph = new FactGraph();
      const open = new Map<string, string>();
      for (const [at, [source, relation, target]] of triples.entries()) {
        const id = `t${at}`;
        graph.assert({ id, source, target, relation, validFrom: at }, at);
        for (const [other, triple] of open) {
          if (!triple.startsWith(`${source} ${relation} `) || triple.endsWith(` ${target}`)) continue;
          graph.supersede(other, { validUntil: at, recordedAt: at, by: id });
          open.delete(other);
        }
        open.set(id, `${source} ${relation} ${target}`);
      }
      const closedAt = closeFacts(listTurns(triples.map((triple) => triple.join(' '))), 'anyone');
      for (const moment of triples.keys()) {
        const held = [...closedAt.keys()].filter(
          (at) => at <= moment && !(closedAt[at]! >= 0 && closedAt[at]! <= moment),
        );
        const believed = graph.asOf({ valid: moment, known: moment }).map(({ id }) => id);
        expect(believed.sort()).toEqual(held.map((at) => `t${at}`).sort());
      }
    }),
    { numRuns: 200, seed: 1 },
  );
});
