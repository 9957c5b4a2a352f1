import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../../core/errors/errors.ts';
import { parse } from '../../../core/validation/validation.ts';
import { expansionSchema, type Ontology, ontologySchema, readOntology } from '../ontology.ts';

/** A value that a statement is given, or that a row has. */
export type DomainValue = string | number | boolean | null;
/** A row by the names of its columns. */
export type DomainRow = Readonly<Record<string, DomainValue>>;

/** A database of business records that is read and never written. */
export interface DomainDatabase {
  /** For messages: without a password. */
  readonly address: string;
  /**
   * Runs one statement that reads.
   *
   * @param sql with `$1`, `$2`, … for the values.
   * @param limit the most rows; further ones are not read.
   * @throws QueryError for what is no single SELECT, and for what the database refuses; UnavailableError for a database
   *   that is not there; the reason of the signal.
   */
  read(sql: string, values: readonly DomainValue[], limit: number, signal?: AbortSignal): Promise<readonly DomainRow[]>;
  dispose(): Promise<void>;
}

/** A name as SQL reads it, whatever characters it has. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** What a question of a domain may be asked with. */
export const DOMAIN_PARAMETERS = Object.freeze(['entity', 'start', 'end', 'now'] as const);

const querySchema = z.strictObject({
  name: z.string().regex(/^[\w-]{1,64}$/, 'a name of letters, digits, _ and -'),
  /** The type of the entities that it is asked about, once each; null: once for the question. */
  entity: z.string().nullable().default(null),
  /** One SELECT with the parameters `$entity`, `$start`, `$end` and `$now`. Times are texts as `2024-05-15 12:00:00`, and null where the question has none. */
  sql: z.string().regex(/\S/, 'one SELECT'),
  /** A row as a text: `order {order_id} of {ordered_at}`. */
  text: z.string().regex(/\S/, 'a text with the names of columns in braces'),
});

/** What a domain database is asked. */
export const domainSchema = z.strictObject({
  ontology: ontologySchema,
  queries: z.array(querySchema).min(1),
  expansion: expansionSchema.prefault({}),
  /** The most rows of one query about one entity. */
  rows: z.int().min(1).max(1000).default(20),
});
/** What a domain database is asked, see {@link domainSchema}. */
export type DomainInput = z.input<typeof domainSchema>;
/** A checked domain. */
export type Domain = Omit<z.output<typeof domainSchema>, 'ontology'> & { readonly ontology: Ontology };
/** One query of a domain. */
export type DomainQuery = Domain['queries'][number];

/**
 * Checks a domain.
 *
 * @param source its file, for messages.
 * @throws ConfigurationError for unknown keys, an ontology that is broken, and a query about a type that the ontology lacks, or with the name of another.
 */
export function readDomain(input: unknown, source = 'the domain'): Domain {
  const domain = parse(domainSchema, input, source);
  const ontology = readOntology(domain.ontology, source);
  const types = Object.keys(ontology.entities);
  const names = domain.queries.map(({ name }) => name);
  const faults = domain.queries.flatMap(({ name, entity }, i): ConfigurationFault[] => [
    ...(entity === null || types.includes(entity)
      ? []
      : [
          {
            path: `queries[${i}].entity`,
            expected: `a type of entities (${types.join(', ')})`,
            got: JSON.stringify(entity),
          },
        ]),
    ...(names.indexOf(name) === i ? [] : [{ path: `queries[${i}].name`, expected: 'each name once', got: name }]),
  ]);
  if (faults.length > 0) throw new ConfigurationError(source, faults);
  return { ...domain, ontology };
}
