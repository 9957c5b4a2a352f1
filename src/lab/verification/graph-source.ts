import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { GraphMoment } from '../../index/graph/graph-moment.ts';
import { type GraphScoringOptions, MomentScorer } from '../../index/graph/moment-scoring.ts';
import { TemporalAdjacency } from '../../index/graph/temporal-adjacency.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const scores = z.record(z.string(), z.number());
const graphSourceCase = z.looseObject({
  nodes: z.array(z.strictObject({ id: z.string(), kind: z.enum(['memory', 'concept']), time: z.number() })),
  edges: z.array(z.strictObject({ a: z.string(), b: z.string(), weight: z.number(), time: z.number() })),
  asOf: z.number(),
  seeds: scores,
  damping: z.number(),
  hopDecay: z.number(),
  maxHops: z.int(),
  expected: z.strictObject({ pagerank: scores, hopDecay: scores, degree: scores, specificity: scores }),
});
type GraphSourceCase = z.output<typeof graphSourceCase>;

/** Of PageRank, for each edge of a node: far below the tolerance of the topic. */
const ERROR = 1e-13;

/** The graph of a case; of an edge between two kinds the memory is the source. */
function buildGoldenAdjacency({ nodes, edges }: GraphSourceCase): TemporalAdjacency {
  const nodeOf = new Map(nodes.map(({ id }, node) => [id, node]));
  const isConcept = (id: string) => nodes[nodeOf.get(id) as number]?.kind === 'concept';
  const ends = edges.map(({ a, b }) => (isConcept(a) ? [b, a] : [a, b]));
  return new TemporalAdjacency({
    nodeTimes: Float64Array.from(nodes, ({ time }) => time),
    sources: Int32Array.from(ends, ([source]) => nodeOf.get(source as string) as number),
    targets: Int32Array.from(ends, ([, target]) => nodeOf.get(target as string) as number),
    weights: Float64Array.from(edges, ({ weight }) => weight),
    times: Float64Array.from(edges, ({ time }) => time),
    isMention: Uint8Array.from(edges, ({ a, b }) => (isConcept(a) === isConcept(b) ? 0 : 1)),
  });
}

/** The scorings of the graph source, and specificity, as of a moment. */
export const graphSource: Topic = {
  name: 'graph-source',
  compute(input: GoldenCase): readonly Part[] {
    const golden = parse(graphSourceCase, input, input.name);
    const { nodes, asOf, expected } = golden;
    const moment = new GraphMoment(buildGoldenAdjacency(golden), { asOf });
    const scorer = new MomentScorer(nodes.length);
    const seeds = new Map(
      Object.entries(golden.seeds).map(([id, weight]) => [nodes.findIndex((n) => n.id === id), weight]),
    );
    const visible = nodes.flatMap((_, node) => (moment.has(node) ? [node] : []));
    const readId = (node: number) => nodes[node]?.id as string;
    const score = (scoring: GraphScoringOptions['scoring']) => {
      const { damping, hopDecay: decay, maxHops } = golden;
      const found = scorer.score(moment, seeds, { scoring, damping, tolerance: ERROR, decay, maxHops });
      const listed = scoring === 'pagerank' ? visible : found.nodes;
      return Object.fromEntries(listed.map((node) => [readId(node), found.values[node]]));
    };
    const concepts = visible.filter((node) => nodes[node]?.kind === 'concept');
    const specificity = Object.fromEntries(concepts.map((node) => [readId(node), moment.computeSpecificity(node)]));
    return [
      { at: 'pagerank', expected: expected.pagerank, got: score('pagerank'), tolerance: HOST },
      { at: 'hopDecay', expected: expected.hopDecay, got: score('hop-decay'), tolerance: HOST },
      { at: 'degree', expected: expected.degree, got: score('degree'), tolerance: HOST },
      { at: 'specificity', expected: expected.specificity, got: specificity, tolerance: HOST },
    ];
  },
};
