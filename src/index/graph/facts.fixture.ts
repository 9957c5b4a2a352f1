import fc from 'fast-check';
import type { FactMoments } from './fact-edge.ts';
import type { FactChange } from './fact-graph.oracle.ts';
import { FactGraph } from './fact-graph.ts';

const NODES = ['a', 'b', 'c', 'd', 'e'];

const step = fc.record({
  isNew: fc.boolean(),
  pick: fc.nat(),
  ends: fc.tuple(fc.nat(4), fc.nat(4)),
  weight: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  from: fc.integer({ min: -11, max: 11 }),
  length: fc.option(fc.integer({ min: 1, max: 13 }), { nil: null }),
  later: fc.nat(2),
  by: fc.option(fc.nat(), { nil: null }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function supersedeOne(step: Step, starts: readonly number[], recordedAt: number): FactChange {
  const at = step.pick % starts.length;
  const by = step.by === null || step.by % starts.length === at ? null : `f${step.by % starts.length}`;
  const validUntil = (starts[at] as number) + (step.length ?? 5);
  return { kind: 'supersede', id: `f${at}`, validUntil, recordedAt, by };
}

/** Turns steps into changes that a graph takes: moments never fall, several changes share one, and what is superseded was asserted. */
function listChanges(steps: readonly Step[]): FactChange[] {
  const starts: number[] = [];
  let recordedAt = -7;
  return steps.map((step): FactChange => {
    recordedAt += step.later;
    if (!step.isNew && starts.length > 0) return supersedeOne(step, starts, recordedAt);
    const [source, target] = step.ends.map((end) => NODES[end] as string) as [string, string];
    const id = `f${starts.push(step.from) - 1}`;
    const validUntil = step.length === null ? null : step.from + step.length;
    const weight = step.weight === undefined ? {} : { weight: step.weight };
    return {
      kind: 'assert',
      fact: { id, source, target, relation: 'knows', validFrom: step.from, validUntil, ...weight },
      recordedAt,
    };
  });
}

/** Logs of changes in the order in which they were recorded. */
export const factLogs = fc.array(step, { minLength: 1, maxLength: 23 }).map(listChanges);

const moment = fc.option(fc.integer({ min: -13, max: 37 }), { nil: null });
/** Moments before, within and after those of {@link factLogs}, or left open. */
export const factMoments: fc.Arbitrary<FactMoments> = fc.record({ valid: moment, known: moment });

export function applyChange(graph: FactGraph, change: FactChange): void {
  if (change.kind === 'assert') graph.assert(change.fact, change.recordedAt);
  else {
    const { kind: _, id, ...closing } = change;
    graph.supersede(id, closing);
  }
}

/** A graph of facts after the changes of a log. */
export function replayFacts(log: readonly FactChange[]): FactGraph {
  const graph = new FactGraph();
  for (const change of log) applyChange(graph, change);
  return graph;
}
