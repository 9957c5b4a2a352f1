import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import {
  ConceptGraph,
  EDGE_KINDS,
  type EdgeKind,
  type GraphMemory,
  nameConceptNode,
  nameMemoryNode,
} from './concept-graph.ts';
import { drawGraphMemories } from './graph-memories.fixture.ts';

/** A memory of one conversation with what a test gives it. */
function describeMemory(id: string, given: Partial<GraphMemory> = {}): GraphMemory {
  return { id, conversationId: `c-${id}`, parentId: null, text: 'Nothing.', title: null, concepts: [], ...given };
}

function buildGraph(memories: readonly GraphMemory[], kinds?: readonly EdgeKind[]): ConceptGraph {
  const graph = new ConceptGraph(kinds);
  graph.insert(memories);
  return graph;
}

/** Every node and edge with its attributes, the edges sorted. */
function listParts({ graph }: ConceptGraph): { nodes: unknown[]; edges: string[] } {
  return {
    nodes: graph.mapNodes((node, attributes) => ({ node, ...attributes })),
    edges: graph
      .mapEdges((_, { kind, weight, time }, a, b) => `${kind} ${[a, b].sort().join(' - ')} ${weight} ${time}`)
      .sort(),
  };
}

/** Pairs of an edge kind as memory ids and concepts. */
function listEdges({ graph }: ConceptGraph, kind: EdgeKind): string[] {
  const strip = (node: string) => node.slice(node.indexOf(' ') + 1);
  return graph
    .filterEdges((_, attributes) => attributes.kind === kind)
    .map((edge) => graph.extremities(edge).map(strip).sort().join(' - '))
    .sort();
}

describe('edges', () => {
  test('a memory mentions each of its concepts once, and a concept has the time of its first mention', () => {
    const { graph } = buildGraph([
      describeMemory('a', { concepts: ['rome'] }),
      describeMemory('b', { concepts: ['alps', 'rome', 'alps'] }),
    ]);
    expect(graph.nodes().map((node) => [node, graph.getNodeAttributes(node)])).toEqual([
      ['memory a', { kind: 'memory', time: 0 }],
      ['concept rome', { kind: 'concept', time: 0 }],
      ['memory b', { kind: 'memory', time: 1 }],
      ['concept alps', { kind: 'concept', time: 1 }],
    ]);
    const [edge] = graph.edges(nameMemoryNode('b'), nameConceptNode('rome'));
    expect(graph.getEdgeAttributes(edge)).toEqual({ kind: 'mentions', weight: 1, time: 1 });
  });

  test('concepts that stand near each other have an edge for each memory: at most four after each', () => {
    const graph = buildGraph(
      [
        describeMemory('a', { concepts: ['1', '2', '3', '4', '5', '6'] }),
        describeMemory('b', { concepts: ['2', '1'] }),
      ],
      ['cooccurrence'],
    );
    expect(listEdges(graph, 'cooccurrence')).toEqual(
      ['1 - 2', '1 - 2', '1 - 3', '1 - 4', '1 - 5', '2 - 3', '2 - 4', '2 - 5', '2 - 6']
        .concat(['3 - 4', '3 - 5', '3 - 6', '4 - 5', '4 - 6', '5 - 6'])
        .sort(),
    );
    expect(graph.graph.mapEdges((_, { time }) => time).filter((time) => time === 1)).toHaveLength(1);
  });

  test('concepts that a triple joins have an edge for each memory, whatever the order and the number of its triples', () => {
    const concepts = ['1', '2', '3'];
    const graph = buildGraph(
      [
        describeMemory('a', {
          concepts,
          relations: [
            ['1', '3'],
            ['3', '1'],
            ['2', '2'],
          ],
        }),
        describeMemory('b', {
          concepts,
          relations: [
            ['3', '1'],
            ['2', '3'],
          ],
        }),
        describeMemory('c', { concepts }),
      ],
      ['relation'],
    );
    expect(listEdges(graph, 'relation')).toEqual(['1 - 3', '1 - 3', '2 - 3']);
    expect(graph.graph.mapEdges((_, { time, weight }) => [time, weight])).toEqual([
      [0, 1],
      [1, 1],
      [1, 1],
    ]);
    expect(() => buildGraph([describeMemory('a', { concepts, relations: [['1', '4']] })])).toThrow(
      /^memory a relates what is none of its concepts: 4; add the concept$/,
    );
  });

  test('a reply has an edge to its parent, also to one that arrives later, with the time of the later', () => {
    const graph = buildGraph([
      describeMemory('a'),
      describeMemory('b', { parentId: 'a' }),
      describeMemory('c', { parentId: 'd' }),
      describeMemory('d', { parentId: 'a' }),
      describeMemory('e', { parentId: 'unknown' }),
    ]);
    expect(listEdges(graph, 'reply')).toEqual(['a - b', 'a - d', 'c - d']);
    const [edge] = graph.graph.edges(nameMemoryNode('c'), nameMemoryNode('d'));
    expect(graph.graph.getEdgeAttribute(edge, 'time')).toBe(3);
  });

  test('a turn has an edge to the next of its conversation', () => {
    const inside = ['x', 'y', 'x', 'x', 'y'].map((conversationId, i) => describeMemory(`${i}`, { conversationId }));
    expect(listEdges(buildGraph(inside), 'next')).toEqual(['0 - 2', '1 - 4', '2 - 3']);
  });

  test('a text names the memories whose title it holds as whole words, before and after it', () => {
    const graph = buildGraph([
      describeMemory('early', { text: 'He crossed the alps in the Second Punic War.' }),
      describeMemory('war', { title: 'Second Punic War', text: 'The Second Punic War began.' }),
      describeMemory('film', { title: 'Second Punic War (1951 film)', text: 'A film.' }),
      describeMemory('late', { text: 'second punic war' }),
      describeMemory('part', { text: 'A second Punic warrior; war, Punic, second' }),
    ]);
    expect(listEdges(graph, 'names')).toEqual([
      'early - film',
      'early - war',
      'film - late',
      'film - war',
      'late - war',
    ]);
  });

  test('a title that is one stop word, a number or two letters names nothing, one that is a longer word does', () => {
    const titled = ['The', '1951', 'Io', 'Rome', ''].map((title) => describeMemory(title, { title }));
    const graph = buildGraph([...titled, describeMemory('text', { text: 'The year 1951 on Io and in Rome' })]);
    expect(listEdges(graph, 'names')).toEqual(['Rome - text']);
  });

  test('of many memories with one title texts name the first sixteen', () => {
    const label = Array.from({ length: 20 }, (_, i) => describeMemory(`${i}`, { title: 'Weekly report' }));
    const text = describeMemory('text', { text: 'See the weekly report' });
    expect(listEdges(buildGraph([...label, text]), 'names')).toHaveLength(16);
    expect(listEdges(buildGraph([text, ...label]), 'names')).toHaveLength(16);
  });

  test('a new spelling of a concept has an edge to the earlier ones, with its time, and joins none of them to each other', () => {
    const graph = buildGraph(
      [
        describeMemory('a', { concepts: ['ann b. davis', 'ann c. davis'] }),
        describeMemory('b', { concepts: ['rome'] }),
        describeMemory('c', { concepts: ['ann davis', 'ann b. davis'] }),
      ],
      ['alias'],
    );
    expect(listEdges(graph, 'alias')).toEqual(['ann b. davis - ann davis', 'ann c. davis - ann davis']);
    expect(graph.graph.mapEdges((_, { time }) => time)).toEqual([2, 2]);
    const [weight] = graph.graph.mapEdges((_, attributes) => attributes.weight);
    expect(graph.findAliases('ann e. davis')).toEqual([{ form: 'ann davis', similarity: 8 / 13 }]);
    expect(weight).toBeCloseTo(8 / 13, 12);
    const strict = new ConceptGraph(['alias'], 0.99);
    strict.insert([describeMemory('a', { concepts: ['ann davis', 'ann e. davis'] })]);
    expect(strict.graph.size).toBe(0);
    expect(buildGraph([describeMemory('a', { concepts: ['rome'] })], ['mentions']).findAliases('romes')).toEqual([]);
  });

  test('similar memories have the weight that is given', () => {
    const similar = new Map([['a', 0.9]]);
    const { graph } = buildGraph([describeMemory('a'), describeMemory('b', { similar })]);
    expect(graph.mapEdges((_, attributes) => attributes)).toEqual([{ kind: 'similar', weight: 0.9, time: 1 }]);
  });

  test.each(EDGE_KINDS)('%s alone is made where it alone is asked for', (kind) => {
    const memories = drawGraphMemories(3, 61);
    const alone = buildGraph(memories, [kind]);
    expect(listEdges(alone, kind).length).toBeGreaterThan(10);
    expect(alone.graph.size).toBe(listEdges(alone, kind).length);
    expect(listEdges(alone, kind)).toEqual(listEdges(buildGraph(memories), kind));
  });
});

describe('insertion', () => {
  test('in batches of any size makes the graph that one insertion makes, edge by edge', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.integer({ min: 0, max: 13 }), { maxLength: 17 }), (seed, sizes) => {
        const memories = drawGraphMemories(seed, 43);
        const incremental = new ConceptGraph();
        let start = 0;
        for (const size of [...sizes, memories.length]) {
          incremental.insert(memories.slice(start, start + size));
          start += size;
        }
        const rebuilt = buildGraph(memories);
        expect(listParts(incremental)).toEqual(listParts(rebuilt));
        expect(incremental.operations).toBe(rebuilt.operations);
      }),
      { numRuns: 20 },
    );
  });

  test('leaves every earlier node and edge as it was', () => {
    const memories = drawGraphMemories(5, 71);
    const graph = buildGraph(memories.slice(0, 47));
    const before = listParts(graph);
    graph.insert(memories.slice(47));
    const after = listParts(graph);
    expect(after.nodes.slice(0, before.nodes.length)).toEqual(before.nodes);
    const sorted = new Set(after.edges);
    expect(before.edges.filter((edge) => !sorted.has(edge))).toEqual([]);
    expect(after.edges.length).toBeGreaterThan(before.edges.length);
  });

  test('costs what is new: as much for a hundred memories beside twenty times as many others', () => {
    /** Memories of their own vocabulary, whose texts name each other's titles. */
    const describeGroup = (group: number) =>
      Array.from({ length: 100 }, (_, i) =>
        describeMemory(`${group}-${i}`, {
          conversationId: `${group}`,
          title: `Place number${group}x${i}`,
          text: `From place number${group}x${(i * 7) % 100} to somewhere else`,
          concepts: [computeHash([group, i % 10]).slice(0, 13), 'place'],
        }),
      );
    const measureInsertion = (others: number) => {
      const graph = buildGraph(Array.from({ length: others }, (_, group) => describeGroup(group)).flat());
      const before = graph.operations;
      graph.insert(describeGroup(others));
      return graph.operations - before;
    };
    const beside = measureInsertion(1);
    expect(beside).toBeGreaterThan(1000);
    expect(measureInsertion(20)).toBeLessThan(1.05 * beside);
  });

  test('refuses a memory that is in the graph, and one that is similar to a memory that is not', () => {
    const graph = buildGraph([describeMemory('a')]);
    expect(() => graph.insert([describeMemory('a')])).toThrow(ValidationError);
    expect(() => graph.insert([describeMemory('a')])).toThrow(/^memory is in the graph: a; /);
    const similar = new Map([['x', 0.9]]);
    expect(() => graph.insert([describeMemory('b', { similar })])).toThrow(
      /^memory b is similar to one that is not in the graph: x; /,
    );
    expect(graph.size).toBe(1);
  });
});
