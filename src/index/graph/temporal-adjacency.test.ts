import { describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { GraphMoment } from './graph-moment.ts';
import { TemporalAdjacency } from './temporal-adjacency.ts';

describe('temporal adjacency', () => {
  const edges = {
    nodeTimes: Float64Array.of(0, 5, 1, 2),
    sources: Int32Array.of(0, 0, 0, 3),
    targets: Int32Array.of(1, 2, 3, 0),
    weights: Float64Array.of(2, 3, 5, 7),
    times: Float64Array.of(1, 4, 3, 3),
    isMention: Uint8Array.of(0, 0, 0, 1),
  };

  test('an edge exists from its time and those of its ends on; equal times keep their order', () => {
    const adjacency = new TemporalAdjacency(edges);
    expect([...adjacency.neighbours.subarray(0, 4)]).toEqual([3, 3, 2, 1]);
    expect([...adjacency.times.subarray(0, 4)]).toEqual([3, 3, 4, 5]);
    expect([3, 3.5, 4.5, 6].map((asOf) => adjacency.sumWeights(0, asOf))).toEqual([0, 12, 15, 17]);
    expect(adjacency.sumWeights(1, 5)).toBe(0);
    expect([adjacency.countMentions(0, 9), adjacency.countMentions(3, 9)]).toEqual([1, 0]);
  });

  test('an edge may weigh another amount from its target, and nothing in one direction', () => {
    const adjacency = new TemporalAdjacency({ ...edges, reverseWeights: Float64Array.of(0, 1, 0.5, 0.25) });
    expect([0, 1, 2, 3].map((node) => adjacency.sumWeights(node, 9))).toEqual([10.25, 0, 1, 7.5]);
    const visited: number[] = [];
    new GraphMoment(adjacency, { asOf: 9 }).forEachNeighbour(1, (neighbour) => visited.push(neighbour));
    expect(visited).toEqual([]);
  });

  test('refuses arrays of different lengths, ends that are no nodes and weights that are not above 0', () => {
    expect(() => new TemporalAdjacency({ ...edges, weights: Float64Array.of(1) })).toThrow(DimensionMismatchError);
    expect(() => new TemporalAdjacency({ ...edges, targets: Int32Array.of(1, 2, 3, 4) })).toThrow(
      /^edge 3 has an end outside 4 nodes: 4; /,
    );
    expect(() => new TemporalAdjacency({ ...edges, weights: Float64Array.of(1, 1, -1, 1) })).toThrow(
      /^weight of edge 2 is below 0 or not finite: -1; /,
    );
    expect(() => new TemporalAdjacency({ ...edges, reverseWeights: Float64Array.of(1, 1) })).toThrow(
      DimensionMismatchError,
    );
    const weights = Float64Array.of(1, 1, 0, 1);
    expect(() => new TemporalAdjacency({ ...edges, weights })).toThrow(/^edge 2 weighs 0 in both directions; /);
  });

  test('takes in later nodes and edges, and refuses an edge that begins before another of its node', () => {
    const adjacency = new TemporalAdjacency(edges);
    const more = {
      nodeTimes: Float64Array.of(0, 5, 1, 2, 6),
      sources: Int32Array.of(4, 0),
      targets: Int32Array.of(1, 4),
      weights: Float64Array.of(11, 13),
      times: Float64Array.of(7, 6),
      isMention: Uint8Array.of(1, 0),
    };
    adjacency.append(more);
    expect([6, 7, 8].map((asOf) => adjacency.sumWeights(0, asOf))).toEqual([17, 30, 30]);
    expect([7, 8].map((asOf) => adjacency.sumWeights(4, asOf))).toEqual([13, 24]);
    expect([adjacency.countMentions(1, 8), adjacency.size]).toEqual([1, 5]);
    expect(() => adjacency.append(more)).toThrow(/^edge 1 begins to exist before others of its node: 6; /);
  });
});
