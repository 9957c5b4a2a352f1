import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readQrels, readRun, readSuperseded } from './trec-files.ts';

test('files of gzip are read, and errors name their lines', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trec-gzip-'));
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), gzipSync(text));
    return join(folder, name);
  };
  try {
    expect([...readRun(write('run.gz', 'q Q0 a 1 2 t\nq Q0 é 2 1 t\n'))]).toEqual([
      [
        'q',
        [
          { id: 'a', score: 2 },
          { id: 'é', score: 1 },
        ],
      ],
    ]);
    expect(readQrels(write('qrels', 'q 0 a 1\n'))).toEqual(new Map([['q', new Map([['a', 1]])]]));
    expect(readSuperseded(write('superseded', 'q\ta\tb\n'))).toEqual(new Map([['q', new Map([['a', 'b']])]]));
    expect(() => readRun(write('two.gz', 'q Q0 a 1 2 t\nq Q0 a 2 1 t\n'))).toThrow(/two\.gz:2: a; remove the line$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
