import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InvalidFilterError, ValidationError } from '../../core/errors/errors.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { compileFilter } from './compile-filter.ts';
import { compileFilterSql, FILTER_COLUMNS, type FilterSqlOptions } from './compile-filter-sql.ts';
import { FILTER_CASES, REFUSED_VARIABLES, TURNS } from './filter.cases.ts';
import { filter, subject, variables } from './filter.fixture.ts';
import { FILTER_OPERATIONS, type Filter, type FilterSubject, type FilterVariables } from './filter.ts';
import { formatFilter } from './filter-schema.ts';

/** The part of @electric-sql/pglite that these tests use. */
interface Database {
  exec(sql: string): Promise<unknown>;
  query(sql: string, parameters: readonly unknown[]): Promise<{ readonly rows: readonly { readonly place: number }[] }>;
  close(): Promise<void>;
}

requirePackages('PGlite').describe('in Postgres', () => {
  let database: Database;
  beforeAll(async () => {
    const { PGlite } = await import('@electric-sql/pglite' as string);
    database = await PGlite.create();
    await database.exec(`create table turns (place integer, id text, conversation_id text, parent_id text,
      created_at double precision, author text, channel text, attributes jsonb)`);
  });
  afterAll(() => database.close());

  async function store(subjects: readonly FilterSubject[]): Promise<void> {
    const rows = subjects.map((turn, place) => ({ place, ...turn }));
    await database.exec('truncate turns');
    await database.query(
      `insert into turns select (r ->> 'place')::integer, r ->> 'id', r ->> 'conversationId', r ->> 'parentId',
        (r ->> 'timestamp')::double precision, r ->> 'author', r ->> 'channel', r -> 'attributes'
        from jsonb_array_elements($1::jsonb) as r`,
      [JSON.stringify(rows)],
    );
  }

  /** The places of the rows that a filter accepts. */
  async function select(tree: Filter | string, given?: FilterVariables): Promise<number[]> {
    const { sql, parameters } = compileFilterSql(tree, FILTER_COLUMNS, given === undefined ? {} : { variables: given });
    const text = `select place from turns where ${sql} order by place`;
    const { rows } = await database.query(text, [...parameters]);
    return rows.map(({ place }) => place);
  }

  describe('accepts what the rules say', () => {
    beforeAll(() => store(Object.values(TURNS)));

    test.each(FILTER_CASES)('$text', async ({ text, accepted, variables: given }) => {
      const names = Object.keys(TURNS);
      expect((await select(text, given)).map((place) => names[place])).toEqual(accepted);
    });
  });

  test('the predicate and SQL accept the same turns, on every kind of value', async () => {
    const subjects = fc.sample(subject, 120);
    await store(subjects);
    const selective = new Map<string, number>();
    const property = fc.asyncProperty(filter, variables, async (tree, given) => {
      const accepts = compileFilter(tree);
      const expected = [...subjects.keys()].filter((place) => accepts(subjects[place] as FilterSubject, given));
      expect(await select(tree, given), formatFilter(tree)).toEqual(expected);
      if (expected.length > 0 && expected.length < subjects.length)
        selective.set(tree.op, (selective.get(tree.op) ?? 0) + 1);
    });
    await fc.assert(property, { numRuns: 1000 });
    // Filters that accept nothing, or everything, compare little.
    expect(FILTER_OPERATIONS.filter((op) => (selective.get(op) ?? 0) < 10)).toEqual([]);
  });

  test('JSON null is a missing attribute, and the whole object may be null', async () => {
    await store([{ attributes: { kind: null } }, { attributes: {} }, {}, { attributes: { kind: 'null' } }]);
    expect(await select('kind = null')).toEqual([0, 1, 2]);
    expect(await select('not exists kind')).toEqual([0, 1, 2]);
    expect(await select("kind != 'fact'")).toEqual([0, 1, 2, 3]);
  });
});

describe('the text', () => {
  test('has no value and no key, and names columns in quotes', () => {
    const hostile = "x'; drop table turns; --";
    const tree: Filter = {
      op: 'or',
      of: [
        { op: '=', field: hostile, value: hostile },
        { op: 'in', field: hostile, values: [hostile, null] },
        { op: 'contains', field: 'channel', value: hostile },
        { op: '<', field: hostile, value: { query: hostile } },
      ],
    };
    const columns = { channel: 'place" or true --', attributes: 'data' };
    const options: FilterSqlOptions = { variables: { [hostile]: hostile }, table: 't' };
    const { sql, parameters } = compileFilterSql(tree, columns, options);
    expect(sql).not.toContain('drop');
    expect(sql).toContain('strpos("t"."place"" or true --", ');
    expect(sql).toContain('"t"."data"');
    expect(new Set(parameters)).toEqual(new Set([hostile, JSON.stringify(hostile), JSON.stringify([hostile])]));
  });

  test('numbers its parameters from a first one, each once', () => {
    const { sql, parameters } = compileFilterSql("outcome between 1 and 2 and channel = 'a'", FILTER_COLUMNS, {
      firstParameter: 4,
    });
    expect(parameters).toEqual(['outcome', '1', '2', 'a']);
    const used = new Set([...sql.matchAll(/\$\d+/g)].map(([number]) => number));
    expect([...used].sort()).toEqual(['$4', '$5', '$6', '$7']);
  });

  test('has one parameter for a list of any length', () => {
    const values = Array.from({ length: 70_000 }, (_, i) => i);
    expect(compileFilterSql({ op: 'in', field: 'outcome', values }).parameters).toHaveLength(2);
  });
});

describe('refuses', () => {
  test.each(REFUSED_VARIABLES)('a variable that no attribute may equal: %j', (value, expected) => {
    const options = { variables: { x: value } as FilterVariables };
    expect(() => compileFilterSql('outcome = $query.x', FILTER_COLUMNS, options)).toThrow(expected);
  });

  test('a filter with variables but without their values', () => {
    expect(() => compileFilterSql('channel = $query.channel')).toThrow(InvalidFilterError);
  });

  test('a field without a column', () => {
    expect(() => compileFilterSql('author = null', { attributes: 'attributes' })).toThrow(ValidationError);
    expect(() => compileFilterSql('author = null', { attributes: 'attributes' })).toThrow(
      'no column for the field author of a filter; name the column or leave the field out',
    );
  });
});
