import type { Fact, FactClosing, FactEdge, FactMoments } from './fact-edge.ts';

/** A change as a program asks for it. */
export type FactChange =
  | { readonly kind: 'assert'; readonly fact: Fact; readonly recordedAt: number }
  | ({ readonly kind: 'supersede'; readonly id: string } & FactClosing);

/** What is believed about each fact after the changes that were recorded until a moment, in the order of the changes. */
function replayUntil(log: readonly FactChange[], known: number): FactEdge[] {
  const believed = new Map<string, FactEdge>();
  for (const change of log.filter(({ recordedAt }) => recordedAt <= known)) {
    const { recordedAt } = change;
    const id = change.kind === 'assert' ? change.fact.id : change.id;
    const version =
      change.kind === 'assert'
        ? { weight: 1, ...change.fact, validUntil: change.fact.validUntil ?? null, closedBy: null }
        : { ...(believed.get(id) as FactEdge), validUntil: change.validUntil, closedBy: change.by ?? null };
    believed.delete(id); // a later version is later in the order
    believed.set(id, { ...version, recordedAt, supersededAt: null });
  }
  return [...believed.values()];
}

/** What a graph of facts must answer: replays the log up to `known`, then leaves out what did not hold at `valid`. */
export function answerFromLog(log: readonly FactChange[], { valid, known }: FactMoments): FactEdge[] {
  const holds = ({ validFrom, validUntil }: FactEdge, moment: number) =>
    !(moment < validFrom) && !(validUntil !== null && moment >= validUntil);
  return replayUntil(log, known ?? Number.POSITIVE_INFINITY).filter(
    (edge) => valid === null || valid === undefined || holds(edge, valid),
  );
}
