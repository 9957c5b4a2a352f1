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
   * @throws QueryError for what is no single SELECT, and for what the database refuses; UnavailableError for a database that is not there; the reason of the signal.
   */
  read(sql: string, values: readonly DomainValue[], limit: number, signal?: AbortSignal): Promise<readonly DomainRow[]>;
  dispose(): Promise<void>;
}

/** A name as SQL reads it, whatever characters it has. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
