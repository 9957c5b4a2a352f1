import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault, ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';

/** A name of a table or column: it is quoted in SQL, so that it is never read as anything else. */
const identifier = z.string().regex(/^[A-Za-z_]\w{0,62}$/, 'a name of letters, digits and _');
const typeName = z.string().regex(/^[a-z][a-z0-9_-]{0,62}$/, 'a type in lower case, such as customer');

/** How entities of a database are joined: types with their tables, and relations with their joins. */
export const ontologySchema = z.strictObject({
  /** Type -> where its entities are. */
  entities: z.record(
    typeName,
    z.strictObject({
      table: identifier,
      /** The column of the ids. The canonical id of a row is `type:id`. */
      id: identifier,
      /** The column of the names that questions use; absent: entities of this type have no name. */
      name: identifier.optional(),
      /** Columns of further names. */
      aliases: z.array(identifier).default([]),
    }),
  ),
  relations: z
    .array(
      z.strictObject({
        from: typeName,
        /** What it is called, such as `has_many`. */
        relation: z.string().min(1),
        to: typeName,
        /** The table that has the ids of both ends. */
        join: z.strictObject({ table: identifier, from: identifier, to: identifier }),
      }),
    )
    .default([]),
});
/** A checked ontology. */
export type Ontology = z.output<typeof ontologySchema>;
/** A relation of an ontology. */
export type OntologyRelation = Ontology['relations'][number];

/**
 * Checks an ontology.
 *
 * @param source its file, for messages.
 * @throws ConfigurationError for unknown keys, a missing join, a type that is not declared, and a relation that occurs twice.
 */
export function readOntology(input: unknown, source = 'the ontology'): Ontology {
  const ontology = parse(ontologySchema, input, source);
  const known = Object.keys(ontology.entities);
  const faults: ConfigurationFault[] = [];
  const seen = new Set<string>();
  for (const [i, { from, relation, to }] of ontology.relations.entries()) {
    for (const [end, type] of Object.entries({ from, to }))
      if (!known.includes(type))
        faults.push({
          path: `relations[${i}].${end}`,
          expected: `a type of entities (${known.join(', ') || 'there is none'})`,
          got: JSON.stringify(type),
        });
    const key = `${from} ${relation} ${to}`;
    if (seen.has(key)) faults.push({ path: `relations[${i}]`, expected: 'each relation once', got: key });
    seen.add(key);
  }
  if (faults.length > 0) throw new ConfigurationError(source, faults);
  return ontology;
}

/** How far entities are expanded. */
export const expansionSchema = z.strictObject({
  /** Steps along relations. */
  depth: z.int().min(0).max(5).default(1),
  /** The most entities that one relation of one entity adds. */
  fanOut: z.int().min(1).max(1000).default(10),
});
/** How far entities are expanded, see {@link expansionSchema}; what has a default may be left out. */
export type ExpansionInput = z.input<typeof expansionSchema>;

/** The ids, without their type, of the entities that a relation joins to one; at most `limit`, in a fixed order. */
export type FindRelated = (id: string, relation: OntologyRelation, limit: number) => Promise<readonly string[]>;

/** `customer:17` in its parts; an id may hold further colons. @throws ValidationError for an id without a type. */
export function splitEntityId(canonicalId: string): { readonly type: string; readonly id: string } {
  const colon = canonicalId.indexOf(':');
  if (colon > 0) return { type: canonicalId.slice(0, colon), id: canonicalId.slice(colon + 1) };
  throw new ValidationError(`entity has no type: ${JSON.stringify(canonicalId)}; write its id as type:id`, {
    canonicalId,
  });
}

/**
 * Entities and what an ontology joins to them, each once: first those given, then those of each further step, in the order of the relations. An entity that was
 * reached before is not followed again, so cycles end. Entities whose type the ontology lacks stay, alone.
 *
 * @returns canonical ids.
 * @throws ConfigurationError for a depth or fan-out out of range; ValidationError for an id without a type; what `find` throws.
 */
export async function expandEntities(
  entities: readonly string[],
  ontology: Ontology,
  find: FindRelated,
  input: ExpansionInput = {},
): Promise<string[]> {
  const { depth, fanOut } = parse(expansionSchema, input, 'the expansion of entities');
  const reached = new Set(entities);
  let frontier = [...reached];
  for (let step = 0; step < depth && frontier.length > 0; step++) {
    const next: string[] = [];
    for (const entity of frontier) {
      const { type, id } = splitEntityId(entity);
      for (const relation of ontology.relations) {
        if (relation.from !== type) continue;
        const found = await find(id, relation, fanOut);
        for (const other of found.slice(0, fanOut)) {
          const canonicalId = `${relation.to}:${other}`;
          if (reached.has(canonicalId)) continue;
          reached.add(canonicalId);
          next.push(canonicalId);
        }
      }
    }
    frontier = next;
  }
  return [...reached];
}
