import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { SlicePolicy } from '../policies/policy.ts';
import { buildPolicy, drawTurns } from '../policies/slices.fixture.ts';
import { walkByDefinition } from './slice-walk.oracle.ts';
import { walkSlice } from './slice-walk.ts';
import { TurnGraph } from './turn-graph.ts';

function walk(corpus: Corpus, policy: SlicePolicy, anchors: readonly string[], asOf: number): [string, number][] {
  const positions = anchors.map((id) => corpus.getPosition(id));
  const cutoff = corpus.countEarlierTurns(asOf);
  const visited = walkSlice({ graph: new TurnGraph(corpus), policy, anchors: positions, cutoff });
  return [...visited].map(([position, priority]) => [corpus.turns[position]?.id as string, priority]);
}

const weight = fc.constantFrom(0, 0.3, 0.5, 0.6, 0.85, 1);
const policies = fc
  .record({
    maxNodes: fc.integer({ min: 1, max: 80 }),
    minPriority: fc.constantFrom(0, 0.001, 0.05, 0.3),
    distanceDecay: fc.constantFrom(0.5, 0.9, 1),
    relationWeight: fc.record({
      ...{ parent: weight, child: weight, sibling: weight, channel: weight, author: weight, reference: weight },
    }),
    phaseWeight: fc.constantFrom({}, { plan: 1, act: 0.8, review: 0.7 }, { plan: 0 }),
    otherPhaseWeight: fc.constantFrom(1, 0.4),
  })
  .map((changes) => buildPolicy(changes));

test('a slice is that of the definition, visit by visit, to the bit', () => {
  fc.assert(
    fc.property(policies, fc.integer({ min: 1, max: 60 }), fc.nat(), fc.nat(), (policy, count, seed, place) => {
      const corpus = new Corpus(drawTurns(count, seed));
      const anchor = corpus.turns[place % count] as Turn;
      const asOf = (corpus.turns[(place * 7) % count] as Turn).timestamp + (place % 2);
      const got = walk(corpus, policy, [anchor.id], asOf);
      expect(got).toEqual(walkByDefinition(corpus.turns, policy, anchor.id, asOf));
      if (anchor.timestamp < asOf) expect(got.length).toBeGreaterThan(0);
    }),
    { numRuns: 150 },
  );
});

test('a conversation that grows changes no slice of an earlier moment', () => {
  fc.assert(
    fc.property(policies, fc.integer({ min: 5, max: 40 }), fc.nat(), (policy, count, seed) => {
      const grown = drawTurns(2 * count, seed);
      const turns = grown.slice(0, count);
      const asOf = Math.max(...turns.map(({ timestamp }) => timestamp));
      // The drawn times go back by up to an hour: what is not later belongs to the past of both.
      const known = new Set<string | null>([null, ...turns.map(({ id }) => id)]);
      const later = grown.slice(count).filter(({ timestamp, parentId }) => timestamp >= asOf && known.has(parentId));
      const [{ id }] = turns as [Turn];
      expect(walk(new Corpus([...turns, ...later]), policy, [id], asOf)).toEqual(
        walk(new Corpus(turns), policy, [id], asOf),
      );
    }),
    { numRuns: 60 },
  );
});

describe('a walk', () => {
  const turn = (id: string, parentId: string | null, rest: Partial<Turn> = {}): Turn => ({
    ...{ id, parentId, conversationId: 'c', timestamp: 1, author: null, channel: null, text: id },
    ...rest,
  });

  test('does not leave a conversation unless a weight says so', () => {
    const others = { conversationId: 'd', channel: 'k', author: 'a', attributes: { references: ['x'] } };
    const corpus = new Corpus([turn('x', null, { channel: 'k', author: 'a' }), turn('y', null, others)]);
    const only = { parent: 1, child: 1, sibling: 1 };
    const reach = (relationWeight: object) =>
      walk(corpus, buildPolicy({ relationWeight: { ...only, ...relationWeight } }), ['x'], 2).map(([id]) => id);
    expect(reach({})).toEqual(['x']);
    for (const relation of ['channel', 'author', 'reference']) expect(reach({ [relation]: 0.5 })).toEqual(['x', 'y']);
  });

  test('admits every turn of a connected tree if nothing bounds it, and equal priorities go by the bytes of ids', () => {
    const tree = ['\u{ffff}', '\u{10000}', 'b', 'a'].map((id) => turn(id, 'root'));
    const corpus = new Corpus([turn('root', null, { timestamp: 0 }), ...tree]);
    const policy = buildPolicy({ maxNodes: 99, minPriority: 0 });
    expect(walk(corpus, policy, ['root'], 2).map(([id]) => id)).toEqual(['root', 'a', 'b', '\u{ffff}', '\u{10000}']);
  });

  test('over 100,000 replies to one turn names each of them once', () => {
    const replies = Array.from({ length: 100_000 }, (_, i) => turn(`r${i}`, 'root'));
    const corpus = new Corpus([turn('root', null, { timestamp: 0 }), ...replies]);
    const graph = new TurnGraph(corpus);
    const policy = buildPolicy({ maxNodes: 100_001, minPriority: 0, distanceDecay: 1 });
    const visited = walkSlice({ graph, policy, anchors: [corpus.getPosition('r77')], cutoff: corpus.size });
    expect(visited.size).toBe(100_001);
  });
});
