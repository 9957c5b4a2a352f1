import { QueryError } from '../../../core/errors/errors.ts';
import { EARLIEST_TIME, LATEST_TIME, type QueryTimeRange } from '../../../model/text/times/question-times.ts';
import { createEntityRegistry, type EntityEntry, type EntityRegistry } from '../../../rank/query/entity-registry.ts';
import { expandEntities, type FindRelated, type Ontology, splitEntityId } from '../../../rank/query/ontology.ts';
import { understand } from '../../../rank/query/understand.ts';
import type { ContextItem, ItemSource } from '../source.ts';
import {
  DOMAIN_PARAMETERS,
  type Domain,
  type DomainDatabase,
  type DomainQuery,
  type DomainRow,
  type DomainValue,
  quoteName,
} from './domain-options.ts';

/** Texts, quoted names and comments, in which `$name` is no parameter; then parameters. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w+)|[^'"$/-]+|[\s\S]/g;

/** SQL with `$1`, `$2`, … for the values of `names`, in this order. */
interface SqlTemplate {
  readonly sql: string;
  readonly names: readonly string[];
}

/**
 * Reads SQL with parameters such as `$entity`. A parameter stands for a value that is bound, and for nothing else: what it holds is never read as SQL.
 *
 * @param known the parameters that there are.
 * @throws QueryError for an unknown parameter.
 */
function readSqlTemplate(text: string, known: readonly string[]): SqlTemplate {
  const names: string[] = [];
  const parts = [...text.matchAll(TOKENS)].map(([token, name]) => {
    if (name === undefined) return token;
    if (!known.includes(name))
      throw new QueryError(`SQL has an unknown parameter: $${name}; use ${known.map((one) => `$${one}`).join(', ')}`, {
        name,
        sql: text,
      });
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { sql: parts.join('').trim().replace(/;$/, ''), names };
}

/** The most entities that are read from a database for a registry. */
const MOST_ENTITIES = 1_000_000;

/** The entities of a database whose types have names, for a registry. @throws QueryError for a table or column that is not there. */
export async function readDomainEntities(
  database: DomainDatabase,
  { entities }: Ontology,
  signal?: AbortSignal,
): Promise<EntityEntry[]> {
  const found: EntityEntry[] = [];
  for (const [type, { table, id, name, aliases }] of Object.entries(entities)) {
    if (name === undefined) continue;
    const columns = [id, name, ...aliases].map((column, i) => `cast(${quoteName(column)} as varchar) as c${i}`);
    const sql = `select ${columns.join(', ')} from ${quoteName(table)} order by c0`;
    for (const row of await database.read(sql, [], MOST_ENTITIES, signal)) {
      const [key, written, ...others] = columns.map((_, i) => row[`c${i}`]);
      if (typeof key !== 'string' || typeof written !== 'string' || written === '') continue;
      const known = others.filter((alias) => typeof alias === 'string' && alias !== '') as string[];
      found.push({ id: `${type}:${key}`, name: written, aliases: known });
    }
  }
  return found;
}

/** Follows relations in a database, for {@link expandEntities}. */
export function createRelatedFinder(database: DomainDatabase, signal?: AbortSignal): FindRelated {
  return async (id, { join }, limit) => {
    const [table, from, to] = [join.table, join.from, join.to].map(quoteName);
    const sql = `select distinct cast(${to} as varchar) as id from ${table} where cast(${from} as varchar) = $1 and ${to} is not null order by id`;
    const rows = await database.read(sql, [id], limit, signal);
    return rows.map((row) => String(row.id));
  };
}

/** `2024-05-15 12:00:00` in UTC; null for an open end. */
function formatBound(time: number): string | null {
  if (time === EARLIEST_TIME || time === LATEST_TIME) return null;
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ');
}

function fillText(text: string, row: DomainRow, query: DomainQuery): string {
  return text.replace(/\{([^{}]*)\}/g, (_, column: string) => {
    if (Object.hasOwn(row, column)) return row[column] === null ? 'none' : String(row[column]);
    throw new QueryError(
      `query ${query.name} has no column for its text: ${JSON.stringify(column)}; use ${Object.keys(row).join(', ')}`,
      { query: query.name, column },
    );
  });
}

/** What a domain source needs. */
export interface DomainSourceOptions {
  readonly database: DomainDatabase;
  readonly domain: Domain;
  /** An IANA name: that of the question's times. */
  readonly timeZone: string;
  /** Whom and what questions may name; absent: the entities of the database. */
  readonly entities?: EntityRegistry;
}

/** The questions of a domain, as they were asked. */
interface Asked {
  readonly entities: readonly string[];
  readonly range: QueryTimeRange | null;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Rows of a database as items of a context. */
class DomainSource {
  readonly #options: DomainSourceOptions;
  readonly #templates: ReadonlyMap<DomainQuery, SqlTemplate>;
  #entities: Promise<EntityRegistry> | null = null;

  constructor(options: DomainSourceOptions) {
    this.#options = options;
    const { queries } = options.domain;
    this.#templates = new Map(queries.map((query) => [query, readSqlTemplate(query.sql, DOMAIN_PARAMETERS)]));
  }

  #openEntities(): Promise<EntityRegistry> {
    const { entities, database, domain } = this.#options;
    this.#entities ??=
      entities === undefined
        ? readDomainEntities(database, domain.ontology).then((found) => createEntityRegistry(found))
        : Promise.resolve(entities);
    this.#entities.catch(() => {
      this.#entities = null; // the next question tries again
    });
    return this.#entities;
  }

  async #run(query: DomainQuery, entity: string | null, { range, now, signal }: Asked): Promise<ContextItem[]> {
    const { database, domain } = this.#options;
    const { sql, names } = this.#templates.get(query) as SqlTemplate;
    const values: Readonly<Record<string, DomainValue>> = {
      entity: entity === null ? null : splitEntityId(entity).id,
      start: range === null ? null : formatBound(range.start),
      end: range === null ? null : formatBound(range.end),
      now: formatBound(now),
    };
    const bound = names.map((name) => values[name] as DomainValue);
    const rows = await database.read(sql, bound, domain.rows, signal);
    return rows.map((row, i) => ({
      id: `database:${query.name}:${entity ?? ''}:${i}`,
      text: fillText(query.text, row, query),
      score: 1 / (i + 1),
      timestamp: now,
      memoryType: 'record',
      source: `database:${query.name}`,
    }));
  }

  read: ItemSource = async ({ query: question, k, now, signal }) => {
    const { domain, database, timeZone } = this.#options;
    const understood = await understand(question, { timestamp: now, timeZone, entities: await this.#openEntities() });
    if (!understood.requiresDomainDb) return [];
    const named = understood.entities.map(({ canonicalId }) => canonicalId);
    const find = createRelatedFinder(database, signal);
    const entities = await expandEntities(named, domain.ontology, find, domain.expansion);
    const asked: Asked = { entities, range: understood.timeRange, now, signal };
    const items: ContextItem[] = [];
    for (const query of domain.queries) {
      const about = query.entity === null ? [null] : entities.filter((id) => splitEntityId(id).type === query.entity);
      if (query.entity === null && entities.length === 0) continue;
      for (const entity of about) {
        if (items.length >= k) return items.slice(0, k);
        items.push(...(await this.#run(query, entity, asked)));
      }
    }
    return items.slice(0, k);
  };
}

/**
 * A source of business records: where a question needs current records and names entities, the queries of the domain are asked about these and about what the ontology
 * joins to them. Every value is bound, so no question is ever read as SQL.
 *
 * @throws QueryError for SQL with an unknown parameter. A question throws QueryError for SQL that the database refuses.
 */
export function createDomainSource(options: DomainSourceOptions): ItemSource {
  return new DomainSource(options).read;
}
