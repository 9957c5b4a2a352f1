import { isTime } from '../../core/validation/validation.ts';
import type { FactEdge, FactMoments } from '../../index/graph/fact-edge.ts';
import type { FactNeighbour } from '../../index/graph/fact-graph.ts';
import { ZoneClock } from '../../model/text/times/calendar.ts';
import type { QueryTimeRange } from '../../model/text/times/question-times.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { asksForTime } from '../../rank/query/classify-query.ts';
import { createEntityRegistry, type EntityRegistry } from '../../rank/query/entity-registry.ts';
import { understand } from '../../rank/query/understand.ts';
import { type ContextItem, type ContextSource, readItemText, type SourceRequest } from './source.ts';

/** Facts on two timelines, as a source asks a fact store. Times are milliseconds since 1970. */
export interface AskedFacts {
  /** Versions so far. */
  readonly size: number;
  asOf(moments?: FactMoments): FactEdge[];
  neighbours(node: string, moments?: FactMoments): FactNeighbour[];
}

/** Names of nodes that a question may have: `customer:acme` is also `acme`. */
function createNodeNames(edges: readonly FactEdge[]): Promise<EntityRegistry> {
  const nodes = new Set(edges.flatMap(({ source, target }) => [source, target]));
  const named = [...nodes].filter((node) => /[\p{L}\p{N}]/u.test(node));
  return createEntityRegistry(
    named.map((node) => {
      const short = /^\w+:(.*[\p{L}\p{N}].*)$/su.exec(node)?.[1];
      return { id: node, name: node, aliases: short === undefined ? [] : [short] };
    }),
  );
}

/** The names of a graph, by the versions that it had. */
const namesOf = new WeakMap<AskedFacts, { readonly size: number; readonly names: Promise<EntityRegistry> }>();

/** O(facts) after a change, else nothing. */
function openNames(facts: AskedFacts): Promise<EntityRegistry> {
  const known = namesOf.get(facts);
  if (known?.size === facts.size) return known.names;
  const names = createNodeNames(facts.asOf());
  namesOf.set(facts, { size: facts.size, names });
  return names;
}

const isOverlapping = ({ validFrom, validUntil }: FactEdge, { start, end }: QueryTimeRange) =>
  validFrom < end && (validUntil === null || validUntil > start);

/** `2024-03-01` of a moment in a time zone; the number itself where it is no time. */
function formatDay(moment: number, timeZone: string): string {
  const wall = isTime(moment) ? ZoneClock.of(timeZone).readWall(moment) : Number.NaN;
  return isTime(wall) ? new Date(wall).toISOString().slice(0, 10) : String(moment);
}

/** A fact, and the names of the question that it is about. */
interface FoundFact {
  readonly edge: FactEdge;
  readonly names: Set<string>;
}

/** About more names first, then the one that holds since later, then by the tie rule. */
const compareFacts = (a: FoundFact, b: FoundFact) =>
  b.names.size - a.names.size || b.edge.validFrom - a.edge.validFrom || compareBytes(b.edge.id, a.edge.id);

function describeFact({ edge, names }: FoundFact, rank: number, timeZone: string): ContextItem {
  const { id, source: subject, relation: predicate, target: object, validFrom, validUntil } = edge;
  const item = { id: `fact:${id}`, text: '', score: 1 / (rank + 1), timestamp: validFrom, source: 'facts' };
  const sentence = readItemText({ ...item, memoryType: 'semantic', fact: { subject, predicate, object } });
  const end = validUntil === null ? '' : ` until ${formatDay(validUntil, timeZone)}`;
  return {
    ...item,
    memoryType: 'semantic',
    text: `${sentence}, since ${formatDay(validFrom, timeZone)}${end}`,
    why: `names ${[...names].join(', ')}; recorded ${formatDay(edge.recordedAt, timeZone)}`,
  };
}

/**
 * A source of {@link assemble} over facts on two timelines: those about what the question names, as they were known at
 * its moment. A question about a time gets the facts that held in it; one that asks for a time gets them all; any other
 * gets those that hold at its moment.
 *
 * @param timeZone of the days in the texts, and of words such as yesterday: an IANA name.
 */
export function createFactSource(facts: AskedFacts, timeZone: string): ContextSource {
  const answer = async ({ query, k, now }: SourceRequest): Promise<ContextItem[]> => {
    const names = await openNames(facts);
    const { entities, timeRange } = await understand(query, { timestamp: now, timeZone, entities: names });
    const isOpen = timeRange !== null || asksForTime(query, { timestamp: now, timeZone });
    const found = new Map<string, FoundFact>();
    for (const { canonicalId, mentionText } of entities)
      for (const { edge } of facts.neighbours(canonicalId, { known: now, ...(!isOpen && { valid: now }) })) {
        if (timeRange !== null && !isOverlapping(edge, timeRange)) continue;
        const fact = found.get(edge.id) ?? { edge, names: new Set() };
        found.set(edge.id, fact);
        fact.names.add(mentionText);
      }
    const best = [...found.values()].sort(compareFacts).slice(0, k);
    return best.map((fact, rank) => describeFact(fact, rank, timeZone));
  };
  return Object.assign(answer, { readVersion: () => facts.size });
}
