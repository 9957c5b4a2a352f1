import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { describeData } from '../prepared/data-folder.harness.ts';
import { loadDataset } from '../registry.ts';
import { restoreAddresses } from './mail-table.ts';
import { splitIntoTokens } from './shingles.ts';

const folder = mkdtempSync(join(tmpdir(), 'r-mailing-list-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A frame of Zstandard (RFC 8878) with the bytes as they are, in raw blocks. */
function storeAsZstd(bytes: Uint8Array): Uint8Array {
  const largest = 1 << 17;
  const size = new Uint8Array(Uint32Array.of(bytes.length).buffer);
  const parts: Uint8Array[] = [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0xa0), size];
  for (let at = 0; at === 0 || at < bytes.length; at += largest) {
    const block = bytes.subarray(at, at + largest);
    const header = (block.length << 3) | (at + largest >= bytes.length ? 1 : 0);
    parts.push(Uint8Array.of(header & 255, (header >> 8) & 255, header >> 16), block);
  }
  return new Uint8Array(Buffer.concat(parts));
}

interface Row {
  readonly message_id: string;
  readonly in_reply_to: string | null;
  readonly date: Date;
  readonly from_name: string;
  readonly from_email_hash: string;
  readonly body: string;
}

const FOOTER = `
-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-
r-cooks mailing list -- Read http://x.example/FAQ.html
Send "info", "help", or "[un]subscribe"
(in the "body", not the subject !)  To: r-cooks-request at x.example
`;
const WORDS = ['eggs', 'milk', 'flour', 'yeast', 'salt', 'rye', 'plums'];

/** Seven threads of two: a question and its answer, which quotes it under the address that the archive obscures. */
const ROWS: readonly Row[] = WORDS.flatMap((word, day) => {
  const question = `Who of you knows how much ${word} a ${word} cake needs in ${word} season?`;
  const answer = `I for one take ${word} by ${word} until the ${word} bowl holds no more ${word}.`;
  const at = (hour: number) => new Date(Date.UTC(1999, 7, 20 + day, hour, 7));
  const ana = { from_name: 'Ana Cruz', from_email_hash: 'a1' };
  const bea = { from_name: 'Bea Luz', from_email_hash: 'b2' };
  const quote = `Ana Cruz <ana at kitchen.x.example> writes:\n> ${question}\n\n${answer}\nBea Luz, bea at x.example\n${FOOTER}`;
  return [
    { message_id: `<q-${word}@x>`, in_reply_to: null, date: at(7), ...ana, body: `${question}\n${FOOTER}` },
    {
      message_id: `<a-${word}@x>`,
      in_reply_to: `Your message of "Fri, 20 Aug 1999" <q-${word}@x>; from Ana Cruz`,
      date: at(9),
      ...bea,
      body: quote,
    },
  ];
});

/** The columns of the archive, and its compression. */
function writeMails(path: string, rows: readonly Row[]): string {
  const texts = (name: Exclude<keyof Row, 'date'>) => ({
    name,
    data: rows.map((row) => row[name]),
    type: 'STRING' as const,
  });
  const columnData = [
    texts('from_email_hash'),
    { name: 'list', data: rows.map(() => 'r-cooks'), type: 'STRING' as const },
    texts('message_id'),
    texts('from_name'),
    { name: 'date', data: rows.map(({ date }) => date), type: 'TIMESTAMP' as const },
    { name: 'subject', data: rows.map(() => 'the question by its subject'), type: 'STRING' as const },
    texts('in_reply_to'),
    texts('body'),
  ];
  const bytes = parquetWriteBuffer({ columnData, codec: 'ZSTD', compressors: { ZSTD: storeAsZstd } });
  writeFileSync(path, new Uint8Array(bytes));
  return path;
}

const archive = writeMails(join(folder, 'r-cooks-1999.parquet'), ROWS);
const load = (path: string, split: 'time' | 'test' = 'time') => loadDataset({ name: 'r-mailing-list', path, split });

/** Rows are in time order, as turns are: turn m0002 is row 1. */
const findTurnRow = (turnId: string) => ROWS[Number(turnId.slice(1)) - 1] as Row;

function readReassigned(answers: ReadonlyMap<string, string>, split: 'time' | 'test') {
  const parents = new Map(
    [...answers].map(([queryId, turnId]) => [findTurnRow(queryId.slice(2)), findTurnRow(turnId)]),
  );
  const rows = ROWS.map((row) => ({ ...row, in_reply_to: parents.get(row)?.message_id ?? row.in_reply_to }));
  return load(writeMails(join(mkdtempSync(join(folder, 'reassigned-')), 'r-cooks.parquet'), rows), split);
}

describe('a file of the archive', () => {
  describe.each(['time', 'test'] as const)('split: %s', (split) =>
    describeDataset('r-mailing-list', () => load(archive, split), {
      reassigned: (answers) => readReassigned(answers, split),
    }),
  );

  it('is prepared as other mails are: without quotes, attributions, footers, names and addresses', async () => {
    const { corpus, queries, qrels, facts } = await load(archive);
    expect(queries[0]).toMatchObject({
      id: 'q-m0002',
      text: 'I for one take eggs by eggs until the eggs bowl holds no more eggs.\nperson-002, address-0001',
      timestamp: Date.UTC(1999, 7, 20, 9, 7),
      author: 'person-002',
      channel: 'r-cooks',
    });
    expect(Object.fromEntries(qrels.get('q-m0002') ?? [])).toEqual({ m0001: 3 });
    expect(facts).toMatchObject({ 'mails read': 14, 'lines cut: quotes': 7, 'lines cut: attributions': 7 });
    const written = JSON.stringify([corpus.turns, queries]);
    for (const leak of [
      'Ana',
      'Cruz',
      'Bea ',
      'Luz',
      '@',
      ' at ',
      'a1"',
      'x.example',
      'by its subject',
      'r-cooks mailing',
    ])
      expect(written).not.toContain(leak);
  });

  it('is the same in a folder of files, whatever else is in the folder', async () => {
    const several = join(folder, 'several');
    mkdirSync(several);
    writeMails(join(several, '1.parquet'), ROWS.slice(0, 4));
    writeMails(join(several, '2.parquet'), ROWS.slice(4));
    writeFileSync(join(several, 'README.md'), 'files of the archive');
    expect((await load(several)).hash).toBe((await load(archive)).hash);
  });
});

describe('other files', () => {
  it('without the columns of mails are refused by name', async () => {
    const path = join(folder, 'other.parquet');
    const columnData = [{ name: 'body', data: ['a'], type: 'STRING' as const }];
    writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData })));
    await expect(load(path)).rejects.toThrow(ValidationError);
    await expect(load(path)).rejects.toThrow(
      `Parquet file of mails has no column message_id, in_reply_to, date, from_name, from_email_hash, list: ${path}`,
    );
  });

  it('that are no Parquet, or cut off, are refused', async () => {
    const path = join(folder, 'cut.parquet');
    for (const bytes of [Buffer.from('From: ana'), readFileSync(archive).subarray(0, 900)]) {
      writeFileSync(path, bytes);
      await expect(load(path)).rejects.toThrow(StorageError);
    }
  });

  it('are none', async () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    await expect(load(empty)).rejects.toThrow(`no mail in: ${empty}; name a .parquet file of the archive`);
    writeMails(join(empty, 'a.parquet'), ROWS.slice(0, 1));
    await expect(load(empty)).rejects.toThrow(`no reply of ten words or more to a mail of five or more in: ${empty}`);
  });
});

it.each([
  ['ana at kitchen.x.example writes', 'ana@kitchen.x.example writes'],
  ['<ana.cruz+r at x.example>', '<ana.cruz+r@x.example>'],
  ['look at www.x.example and at ftp.x.example', 'look at www.x.example and at ftp.x.example'],
  ['we met at noon. at x.example', 'we met at noon.@x.example'],
  ['look at it, at 3.50 or at x', 'look at it, at 3.50 or at x'],
])('of %j the addresses are those that were sent', (text, restored) => {
  expect(restoreAddresses(text)).toBe(restored);
});

describeData('r-help of 1997 to 1999', 'r-help/r-help-1995-1999.parquet', (path) => {
  it('has the counts that its page gives, no address, and no run of eight words of its parent', {
    timeout: 60_000,
  }, async () => {
    const dataset = await loadDataset({ name: 'r-mailing-list', path, split: 'test' }, { progress: ignoreProgress });
    expect(dataset.facts).toMatchObject({
      'mails read': 4129,
      messages: 3965,
      'trees with a query': 811,
      queries: 1244,
    });
    const written = JSON.stringify([dataset.corpus.turns, dataset.queries]);
    expect(written).not.toMatch(/[\w.]+@[\w-]+\.\w/);
    expect(written).not.toMatch(/mailing list -- Read http/);
    const listRuns = (text: string) => {
      const words = splitIntoTokens(text);
      return words.slice(7).map((_, i) => words.slice(i, i + 8).join(' '));
    };
    for (const { id, text } of dataset.queries) {
      const parents = [...(dataset.qrels.get(id) ?? [])].filter(([, grade]) => grade === dataset.relevantGrade);
      const runs = new Set(parents.flatMap(([turnId]) => listRuns(dataset.corpus.getTurn(turnId).text)));
      expect(
        listRuns(text).filter((run) => runs.has(run) && /\p{L}/u.test(run)), // printed numbers recur by chance
        id,
      ).toEqual([]);
    }
  });
});
