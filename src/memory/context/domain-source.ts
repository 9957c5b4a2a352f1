import { QueryError } from '../../core/errors/errors.ts';
import type { DomainQuery, DomainRow } from '../../rank/query/domain/domain-options.ts';
import { DomainRecords, type DomainRecordsOptions } from '../../rank/query/domain/domain-records.ts';
import type { ItemSource } from './source.ts';

function fillText(text: string, row: DomainRow, query: DomainQuery): string {
  return text.replace(/\{([^{}]*)\}/g, (_, column: string) => {
    if (Object.hasOwn(row, column)) return row[column] === null ? 'none' : String(row[column]);
    throw new QueryError(
      `query ${query.name} has no column for its text: ${JSON.stringify(column)}; use ${Object.keys(row).join(', ')}`,
      { query: query.name, column },
    );
  });
}

/**
 * A source of business records: the rows that {@link DomainRecords} finds, as items of a context.
 *
 * @throws QueryError for SQL with an unknown parameter. A question throws QueryError for SQL that the database refuses.
 */
export function createDomainSource(options: DomainRecordsOptions): ItemSource {
  const records = new DomainRecords(options);
  return async ({ query: question, k, now, signal }) => {
    const found = await records.find(question, { now, signal }, k);
    const items = found.flatMap(({ query, entity, rows }) =>
      rows.map((row, i) => ({
        id: `database:${query.name}:${entity ?? ''}:${i}`,
        text: fillText(query.text, row, query),
        score: 1 / (i + 1),
        timestamp: now,
        memoryType: 'record' as const,
        source: `database:${query.name}`,
      })),
    );
    return items.slice(0, k);
  };
}
