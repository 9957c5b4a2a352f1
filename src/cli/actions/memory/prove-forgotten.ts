import { existsSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { findText, listFormsWithin, listTextForms, type TextForm } from '../../../core/decoding/find-text.ts';
import { RagPlusPlusError } from '../../../core/errors/errors.ts';
import { openDatabase } from '../../../index/vectors/pgvector.ts';
import { readTableTexts } from '../../../index/vectors/postgres/pgvector-sql.ts';
import type { PgvectorOptions } from '../../../index/vectors/vector-kind.ts';
import { listTables } from './memory-folder.ts';

/** The places of a text, and what could not be read, a line each. */
export class Proof {
  readonly found: string[] = [];
  readonly unread: string[] = [];
  files = 0;
  bytes = 0;
  rows = 0;
  readonly #forms: readonly TextForm[];

  private constructor(text: string) {
    this.#forms = listTextForms(text);
  }

  /**
   * Looks for a text in every file of a folder and, if the folder has a memory, in its tables of Postgres.
   *
   * @throws ValidationError for an empty text; StorageError for a folder that cannot be read; ConfigurationError for
   *   wrong settings of a memory.
   */
  static async search(folder: string, text: string): Promise<Proof> {
    const proof = new Proof(text);
    await proof.#searchFolder(folder);
    for (const table of listTables(folder)) await proof.#searchTable(folder, table);
    return proof;
  }

  async #searchFolder(folder: string): Promise<void> {
    const { files, bytes, found, unread } = await findText(folder, this.#forms);
    this.files += files;
    this.bytes += bytes;
    for (const { path, form, offset } of found)
      this.found.push(`${join(folder, path)}${offset === null ? '' : ` at byte ${offset}`} (${form})`);
    for (const { path, reason } of unread) this.unread.push(`${join(folder, path)}: ${reason}`);
  }

  /** The files of a Postgres inside this process, and the rows of any: files may have long values compressed. */
  async #searchTable(memory: string, { url, folder, table }: PgvectorOptions): Promise<void> {
    if (url === null && (folder === null || !existsSync(folder))) return;
    if (folder !== null && url === null && !isWithin(folder, memory)) await this.#searchFolder(folder);
    try {
      const database = await openDatabase({ url, folder });
      const where = `table ${table} at ${database.address}`;
      try {
        for await (const { kind, name, texts } of readTableTexts(database, table)) {
          this.rows += Number(kind === 'row');
          const forms = listFormsWithin(
            texts.map((text) => Buffer.from(text)),
            this.#forms,
          );
          for (const form of forms) this.found.push(`${where}, ${kind} ${name} (${form})`);
        }
      } finally {
        await database.dispose();
      }
      if (url !== null)
        this.unread.push(
          `${where}: files of the server; look in its data folder by the same command, after CHECKPOINT`,
        );
    } catch (error) {
      if (!(error instanceof RagPlusPlusError)) throw error;
      this.unread.push(`table ${table}: ${error.message}`);
    }
  }
}

const isWithin = (path: string, folder: string) => {
  const inner = relative(resolve(folder), resolve(path));
  return inner !== '..' && !inner.startsWith(`..${sep}`);
};
