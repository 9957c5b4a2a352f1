import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import type { Fact, FactClosing, FactMoments } from './fact-edge.ts';
import { answerFromLog } from './fact-graph.oracle.ts';
import { FactGraph } from './fact-graph.ts';
import { applyChange, factLogs, factMoments, replayFacts } from './facts.fixture.ts';

const livesIn = (id: string, target: string, validFrom: number): Fact => ({
  id,
  source: 'ann',
  target,
  relation: 'lives in',
  validFrom,
});

/** Ann moves from Oslo to Rome at 20, and the store learns it at 25. */
function createMove(): FactGraph {
  const graph = new FactGraph();
  graph.assert(livesIn('home', 'oslo', 10), 11);
  graph.assert(livesIn('new home', 'rome', 20), 25);
  graph.supersede('home', { validUntil: 20, recordedAt: 25, by: 'new home' });
  return graph;
}

const targets = (graph: FactGraph, moments?: FactMoments) => graph.asOf(moments).map(({ target }) => target);

describe('a graph of facts', () => {
  test('answers as of either timeline', () => {
    const graph = createMove();
    expect(targets(graph)).toEqual(['rome', 'oslo']);
    expect(targets(graph, { valid: 22 })).toEqual(['rome']);
    expect(targets(graph, { valid: 22, known: 24 })).toEqual(['oslo']);
    expect(targets(graph, { valid: 12, known: 30 })).toEqual(['oslo']);
    expect(targets(graph, { valid: 9 })).toEqual([]);
    expect(targets(graph, { known: 10 })).toEqual([]);
  });

  test('has half-open windows on both timelines', () => {
    const graph = createMove();
    expect(targets(graph, { valid: 10 })).toEqual(['oslo']);
    expect(targets(graph, { valid: 20 })).toEqual(['rome']);
    expect(targets(graph, { valid: 20, known: 24.5 })).toEqual(['oslo']);
    expect(targets(graph, { known: 11 })).toEqual(['oslo']);
    expect(graph.asOf({ known: 24.5 }).map(({ validUntil }) => validUntil)).toEqual([null]);
    expect(graph.asOf({ known: 25 }).map(({ validUntil }) => validUntil)).toEqual([null, 20]);
  });

  test('closes a window by a new version, and keeps the earlier one', () => {
    const graph = createMove();
    const home = { ...livesIn('home', 'oslo', 10), weight: 1 };
    expect(graph.versions('home')).toEqual([
      { ...home, validUntil: null, recordedAt: 11, supersededAt: 25, closedBy: null },
      { ...home, validUntil: 20, recordedAt: 25, supersededAt: null, closedBy: 'new home' },
    ]);
    expect([graph.size, graph.facts, graph.lastRecordedAt]).toEqual([3, 2, 25]);
  });

  test('shows nothing in an answer that was learned after its moment', () => {
    const [edge] = createMove().asOf({ known: 24 });
    expect(edge).toMatchObject({ supersededAt: null, validUntil: null, closedBy: null });
    expect(Object.isFrozen(edge)).toBe(true);
  });

  test('corrects the end of a fact that has one', () => {
    const graph = createMove();
    const corrected = graph.supersede('home', { validUntil: 21, recordedAt: 31 });
    expect(corrected).toMatchObject({ validUntil: 21, recordedAt: 31, closedBy: null });
    expect(targets(graph, { valid: 20.5 })).toEqual(['rome', 'oslo']);
    expect(targets(graph, { valid: 20.5, known: 30 })).toEqual(['rome']);
  });

  test('lists the neighbours at both ends of an edge, and a node beside itself once', () => {
    const graph = createMove();
    graph.assert({ ...livesIn('self', 'ann', 0), relation: 'knows' }, 40);
    const nodes = (node: string, moments?: FactMoments) => graph.neighbours(node, moments).map((found) => found.node);
    expect(nodes('ann')).toEqual(['rome', 'oslo', 'ann']);
    expect(nodes('ann', { valid: 22, known: 39 })).toEqual(['rome']);
    expect(nodes('oslo', { known: 12 })).toEqual(['ann']);
    expect(nodes('nobody')).toEqual([]);
  });

  test('looks at the versions of a node, and now at those that are believed', () => {
    const graph = createMove();
    for (let i = 0; i < 101; i++) graph.assert({ ...livesIn(`other ${i}`, `t${i}`, 0), source: `s${i}` }, 50);
    for (let i = 0; i < 31; i++) graph.supersede('home', { validUntil: 20 + i, recordedAt: 60 + i });
    const count = (query: () => unknown) => {
      const before = graph.operations;
      query();
      return graph.operations - before;
    };
    expect(count(() => graph.neighbours('ann'))).toBe(2);
    expect(count(() => graph.neighbours('ann', { known: 1000 }))).toBe(2);
    expect(count(() => graph.neighbours('ann', { known: 63 }))).toBe(7);
    expect(count(() => graph.neighbours('rome', { known: 63 }))).toBe(1);
    expect(count(() => graph.asOf({ known: 30 }))).toBe(3);
    expect(count(() => graph.asOf())).toBe(103);
  });
});

describe('is refused, with the value and what to do:', () => {
  const fact = livesIn('f', 'oslo', 10);
  test.each([
    ['a time that is NaN', { ...fact, validFrom: Number.NaN }, 40, 'validFrom of fact f is not a finite number: NaN'],
    ['no time', { ...fact, validFrom: undefined as never }, 40, 'validFrom of fact f is not a finite number: nothing'],
    ['an end without a number', { ...fact, validUntil: Number.POSITIVE_INFINITY }, 40, ': Infinity; .*null for no end'],
    ['an empty window', { ...fact, validUntil: 10 }, 40, 'not after validFrom 10: 10; pass a later time'],
    ['a window that ends before', { ...fact, validUntil: 9 }, 40, 'validUntil of fact f is not after validFrom 10: 9'],
    ['a moment that is NaN', fact, Number.NaN, 'recordedAt of fact f is not a finite number: NaN'],
    ['a moment before the last one', fact, 24, 'recordedAt is before the last one: 24 < 25; record facts in the order'],
    ['a known id', { ...fact, id: 'home' }, 40, 'fact is in the graph: home; supersede it, or use another id'],
    ['an empty id', { ...fact, id: '' }, 40, 'id of the fact is no text: ""; pass a string'],
    ['no target', { ...fact, target: null as never }, 40, 'target of fact f is no text: null'],
    ['a weight of 0', { ...fact, weight: 0 }, 40, 'weight of fact f is not above 0: 0; pass a number above 0'],
    ['a weight that is NaN', { ...fact, weight: Number.NaN }, 40, 'weight of fact f is not a finite number: NaN'],
    ['an unknown key', { ...fact, wieght: 2 } as Fact, 40, 'fact has an unknown key: wieght; use id, source'],
    ['no fact', null as never, 40, 'fact is no object: null; pass an object'],
  ])('%s of a fact', (_, wrong, recordedAt, message) => {
    const graph = createMove();
    const before = graph.versions();
    const assertWrong = () => graph.assert(wrong, recordedAt);
    expect(assertWrong).toThrow(ValidationError);
    expect(assertWrong).toThrow(new RegExp(message));
    expect([graph.versions(), graph.lastRecordedAt]).toEqual([before, 25]);
  });

  const closing: FactClosing = { validUntil: 21, recordedAt: 40 };
  test.each([
    ['an unknown id', 'none', closing, 'fact is not in the graph: none; assert it first'],
    ['an unknown fact that ends it', 'home', { ...closing, by: 'none' }, 'fact is not in the graph: none'],
    ['the fact itself', 'home', { ...closing, by: 'home' }, 'superseded by itself: home; pass the id of another fact'],
    [
      'an end at the beginning',
      'home',
      { ...closing, validUntil: 10 },
      'not after validFrom 10: 10; pass a later time',
    ],
    ['an end that is NaN', 'home', { ...closing, validUntil: Number.NaN }, 'validUntil of fact home is not a finite'],
    ['no end', 'home', { ...closing, validUntil: null as never }, 'not a finite number: null; pass a time'],
    ['an earlier moment', 'home', { ...closing, recordedAt: 24 }, 'before the last one: 24 < 25'],
    ['an unknown key', 'home', { ...closing, until: 3 } as FactClosing, 'unknown key: until; use validUntil'],
  ])('%s of an end', (_, id, wrong, message) => {
    const graph = createMove();
    const before = graph.versions();
    const supersedeWrong = () => graph.supersede(id, wrong);
    expect(supersedeWrong).toThrow(ValidationError);
    expect(supersedeWrong).toThrow(new RegExp(message));
    expect([graph.versions(), graph.lastRecordedAt]).toEqual([before, 25]);
  });

  test('a query with a moment that is no number, an unknown key or an unknown fact', () => {
    const graph = createMove();
    expect(() => graph.asOf({ valid: Number.NaN })).toThrow(/valid is not a finite number: NaN; .*null to leave/);
    expect(() => graph.neighbours('ann', { known: '3' as never })).toThrow(/known is not a finite number: "3"/);
    expect(() => graph.asOf({ knwon: 3 } as FactMoments)).toThrow('unknown key: knwon; use valid, known');
    expect(() => graph.versions('none')).toThrow(ValidationError);
  });
});

describe('for every log of changes', () => {
  test('an answer is what a replay of the log up to `known`, filtered by `valid`, gives', () => {
    fc.assert(
      fc.property(factLogs, fc.array(factMoments, { minLength: 7, maxLength: 7 }), (log, queries) => {
        const graph = replayFacts(log);
        for (const moments of queries) {
          const expected = answerFromLog(log, moments);
          expect(graph.asOf(moments)).toEqual(expected);
          const touching = expected.filter(({ source, target }) => source === 'a' || target === 'a');
          const ends = touching.map((edge) => ({ node: edge.source === 'a' ? edge.target : edge.source, edge }));
          expect(graph.neighbours('a', moments)).toEqual(ends);
        }
      }),
    );
  });

  test('counts never fall, and every change adds one version and removes none', () => {
    fc.assert(
      fc.property(factLogs, (log) => {
        const graph = new FactGraph();
        const list = () => graph.versions().map(({ supersededAt: _, ...rest }) => rest);
        for (const [i, change] of log.entries()) {
          const [facts, versions] = [graph.facts, list()];
          applyChange(graph, change);
          expect([graph.size, graph.facts]).toEqual([i + 1, facts + Number(change.kind === 'assert')]);
          expect(list().slice(0, i)).toEqual(versions);
          expect(graph.asOf()).toHaveLength(graph.facts);
        }
      }),
    );
  });

  test('an answer of the past never changes, nor do edges that were handed out', () => {
    fc.assert(
      fc.property(factLogs, fc.nat(), fc.option(fc.integer({ min: -13, max: 37 }), { nil: null }), (log, at, valid) => {
        const split = at % log.length;
        const graph = replayFacts(log.slice(0, split));
        const next = log[split]?.recordedAt as number;
        const ask = () => Array.from({ length: 17 }, (_, i) => graph.asOf({ valid, known: next - 0.5 - i }));
        const answers = ask();
        const now = graph.asOf({ valid });
        const copies = structuredClone([answers, now]);
        for (const change of log.slice(split)) applyChange(graph, change);
        expect(ask()).toEqual(answers);
        expect(graph.asOf({ valid, known: next - 0.5 })).toEqual(
          answerFromLog(log.slice(0, split), { valid, known: next - 0.5 }),
        );
        expect([answers, now]).toEqual(copies);
      }),
    );
  });

  test('the versions of a fact are believed one after the other, without a gap', () => {
    fc.assert(
      fc.property(factLogs, (log) => {
        const graph = replayFacts(log);
        for (const { id } of graph.asOf()) {
          const versions = graph.versions(id);
          const begins = versions.slice(1).map(({ recordedAt }) => recordedAt);
          expect(versions.map(({ supersededAt }) => supersededAt)).toEqual([...begins, null]);
        }
      }),
    );
  });
});
