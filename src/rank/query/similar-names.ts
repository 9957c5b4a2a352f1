import { distance } from 'fastest-levenshtein';
import type { EntityMatch, EntityRegistry } from './entity-registry.ts';

/** An entity that a question names. */
export interface ResolvedEntity {
  readonly mentionText: string;
  readonly canonicalId: string;
  /** 1 for a name, .95 for an alias, .75 for a part of a name, else the similarity or the cosine. */
  readonly confidence: number;
  readonly match: EntityMatch;
}

const PART_CONFIDENCE = 0.75;
/** A shorter name is not compared by letters: most words of its length are similar to it. */
const SHORTEST_FUZZY = 4;
/** Candidates whose similarity is this near to the best are as good. */
const MARGIN = 0.02;

/** Each entity once, by its most certain mention. */
export function keepFirst(found: readonly ResolvedEntity[]): ResolvedEntity[] {
  const best = new Map<string, ResolvedEntity>();
  for (const entity of found)
    if (entity.confidence > (best.get(entity.canonicalId)?.confidence ?? 0)) best.set(entity.canonicalId, entity);
  return [...best.values()];
}

/** The candidates that are as good as the best one. */
export function keepBest(candidates: readonly ResolvedEntity[]): ResolvedEntity[] {
  const found = keepFirst(candidates);
  const most = Math.max(...found.map(({ confidence }) => confidence));
  return found
    .filter(({ confidence }) => confidence >= most - MARGIN)
    .sort((a, b) => b.confidence - a.confidence || (a.canonicalId < b.canonicalId ? -1 : 1));
}

/** Entities whose name is written with a few other letters; costs one comparison a name. */
export function findMisspelt(key: string, mentionText: string, registry: EntityRegistry): ResolvedEntity[] {
  const { fuzzyAbove } = registry.options;
  if (key.length < SHORTEST_FUZZY) return [];
  return [...registry.names].flatMap((name) => {
    const [shorter, longer] = [Math.min(name.length, key.length), Math.max(name.length, key.length)];
    if (shorter < SHORTEST_FUZZY || shorter / longer < fuzzyAbove) return [];
    const confidence = 1 - distance(name, key) / longer;
    if (confidence < fuzzyAbove) return [];
    return registry.find(name).map(({ id }) => ({ mentionText, canonicalId: id, confidence, match: 'fuzzy' as const }));
  });
}

/** Entities of which a mention is a part of a name, or a misspelt name. */
export function findSimilar(key: string, mentionText: string, registry: EntityRegistry): ResolvedEntity[] {
  const parts = registry
    .findByPart(key)
    .map((id): ResolvedEntity => ({ mentionText, canonicalId: id, confidence: PART_CONFIDENCE, match: 'fuzzy' }));
  return keepBest([...parts, ...findMisspelt(key, mentionText, registry)]);
}

/** Entities one of whose names is near by vectors. */
export async function findByVector(
  key: string,
  mentionText: string,
  registry: EntityRegistry,
): Promise<ResolvedEntity[]> {
  const cosines = await registry.computeCosines(key);
  const { cosineAbove } = registry.options;
  const near = [...cosines].flatMap((cosine, i) =>
    cosine < cosineAbove
      ? []
      : registry.find(registry.vectors?.names[i] ?? '').map(
          ({ id }): ResolvedEntity => ({
            mentionText,
            canonicalId: id,
            confidence: Math.min(1, cosine),
            match: 'embedding',
          }),
        ),
  );
  return keepBest(near);
}
