import { QueryError } from '../../../core/errors/errors.ts';
import { EARLIEST_TIME, LATEST_TIME, type QueryTimeRange } from '../../../model/text/times/question-times.ts';
import { joinWords, listWords } from '../../../model/text/tokens.ts';
import { createEntityRegistry, type EntityEntry, type EntityRegistry } from '../entity-registry.ts';
import { expandEntities, type FindRelated, type Ontology, splitEntityId } from '../ontology.ts';
import { understand } from '../understand.ts';
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

/**
 * Opens a database for reading: Postgres by its connection string, else a file of DuckDB. Nothing can be written
 * through it.
 *
 * @param address `postgres://user:password@host:port/database`, or a path.
 * @throws UnavailableError for a missing package, file or server; ValidationError for a connection string that cannot
 *   be read.
 */
export async function openDomainDatabase(address: string): Promise<DomainDatabase> {
  if (/^postgres(?:ql)?:\/\//.test(address)) {
    const { openPostgresDomain } = await import('./postgres-domain.ts');
    return openPostgresDomain(address);
  }
  const { openDuckDb } = await import('./duckdb-database.ts');
  return openDuckDb(address);
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

/** A database, its domain, and what questions may name. */
export interface DomainRecordsOptions {
  readonly database: DomainDatabase;
  readonly domain: Domain;
  /** An IANA name: that of the question's times. */
  readonly timeZone: string;
  /** Whom and what questions may name; absent: the entities of the database. */
  readonly entities?: EntityRegistry;
}

/** The rows that one query of a domain gives for one entity. */
export interface FoundRows {
  readonly query: DomainQuery;
  /** The canonical id that the query was asked about; null for a query that is asked once for a question. */
  readonly entity: string | null;
  readonly rows: readonly DomainRow[];
}

/** The moment of a question, and what ends its search. */
export interface RecordSearch {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly signal?: AbortSignal | undefined;
}

/** The questions of a domain, as they were asked. */
interface Asked extends RecordSearch {
  readonly range: QueryTimeRange | null;
}

/**
 * Finds the records of a database that a question is about. Does not own the database.
 *
 * @throws QueryError for SQL with an unknown parameter, when it is made. A question throws QueryError for SQL that the
 *   database refuses.
 */
export class DomainRecords {
  readonly #options: DomainRecordsOptions;
  readonly #templates: ReadonlyMap<DomainQuery, SqlTemplate>;
  #entries: Promise<readonly EntityEntry[]> | null = null;
  #entities: Promise<EntityRegistry> | null = null;

  constructor(options: DomainRecordsOptions) {
    this.#options = options;
    const { queries } = options.domain;
    this.#templates = new Map(queries.map((query) => [query, readSqlTemplate(query.sql, DOMAIN_PARAMETERS)]));
  }

  #readEntries(): Promise<readonly EntityEntry[]> {
    const { database, domain } = this.#options;
    this.#entries ??= readDomainEntities(database, domain.ontology);
    this.#entries.catch(() => {
      this.#entries = null; // the next question tries again
    });
    return this.#entries;
  }

  #openEntities(): Promise<EntityRegistry> {
    const { entities } = this.#options;
    this.#entities ??=
      entities === undefined
        ? this.#readEntries().then((found) => createEntityRegistry(found))
        : Promise.resolve(entities);
    this.#entities.catch(() => {
      this.#entities = null; // the next question tries again
    });
    return this.#entities;
  }

  async #run(query: DomainQuery, entity: string | null, { range, now, signal }: Asked): Promise<readonly DomainRow[]> {
    const { database, domain } = this.#options;
    const { sql, names } = this.#templates.get(query) as SqlTemplate;
    const values: Readonly<Record<string, DomainValue>> = {
      entity: entity === null ? null : splitEntityId(entity).id,
      start: range === null ? null : formatBound(range.start),
      end: range === null ? null : formatBound(range.end),
      now: formatBound(now),
    };
    const bound = names.map((name) => values[name] as DomainValue);
    return database.read(sql, bound, domain.rows, signal);
  }

  /**
   * The rows for a question that needs records and names entities: those of each query about these and about what the
   * ontology joins to them. Every value is bound, so no question is ever read as SQL.
   *
   * @param most rows; a query that begins below it is finished.
   */
  async find(question: string, { now, signal }: RecordSearch, most = Number.POSITIVE_INFINITY): Promise<FoundRows[]> {
    const { domain, database, timeZone } = this.#options;
    const understood = await understand(question, { timestamp: now, timeZone, entities: await this.#openEntities() });
    if (!understood.requiresDomainDb) return [];
    const named = understood.entities.map(({ canonicalId }) => canonicalId);
    const related = createRelatedFinder(database, signal);
    const entities = await expandEntities(named, domain.ontology, related, domain.expansion);
    const asked: Asked = { range: understood.timeRange, now, signal };
    const found: FoundRows[] = [];
    let count = 0;
    for (const query of domain.queries) {
      const about = query.entity === null ? [null] : entities.filter((id) => splitEntityId(id).type === query.entity);
      if (query.entity === null && entities.length === 0) continue;
      for (const entity of about) {
        if (count >= most) return found;
        const rows = await this.#run(query, entity, asked);
        found.push({ query, entity, rows });
        count += rows.length;
      }
    }
    return found;
  }

  /**
   * How a text may name each record that was found: whom a query with rows was asked about, and the entities whose
   * column of ids a row has. A record has its canonical id, its name and its aliases; one without a name its type and
   * id, and its id alone where that has a letter. Names are words in lower case, once each.
   */
  async nameRecords(found: readonly FoundRows[]): Promise<string[][]> {
    const { entities } = this.#options.domain.ontology;
    const ids = new Set<string>();
    for (const { entity, rows } of found) {
      if (entity !== null && rows.length > 0) ids.add(entity);
      for (const row of rows)
        for (const [type, { id }] of Object.entries(entities))
          if (Object.hasOwn(row, id) && row[id] !== null) ids.add(`${type}:${row[id]}`);
    }
    if (ids.size === 0) return [];
    const entries = new Map((await this.#readEntries()).map((entry) => [entry.id, entry]));
    return [...ids].map((canonicalId) => {
      const { id } = splitEntityId(canonicalId);
      const { name = null, aliases = [] } = entries.get(canonicalId) ?? {};
      const written = [canonicalId, ...(name === null ? [] : [name]), ...aliases, ...(/\p{L}/u.test(id) ? [id] : [])];
      return [...new Set(written.map((text) => joinWords(listWords(text))))].filter((words) => words !== '');
    });
  }
}
