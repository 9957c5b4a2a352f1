import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { writeSafetensors } from '../../core/files/safetensors.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Encoder, TextOwner } from '../../model/encoder.ts';
import { createEncoder, createEncoderSource, encoderOptions } from './registry.ts';

const root = mkdtempSync(join(tmpdir(), 'precomputed-'));
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, vectors: Readonly<Record<string, readonly number[]>>): string {
  const path = join(root, `${name}.safetensors`);
  const rows = Object.values(vectors);
  const data = Float32Array.from(rows.flat());
  writeSafetensors(path, {
    tensors: { vectors: { shape: [rows.length, rows[0]!.length], data } },
    metadata: { ids: JSON.stringify(Object.keys(vectors)) },
  });
  return path;
}

const turn = (id: string): TextOwner => ({ kind: 'turn', id });
const query = (id: string): TextOwner => ({ kind: 'query', id });
const DATA = [turn('t1'), turn('t2'), turn('t3'), query('q1')];
const turns = write('turns', { t1: [3, 4, 0], t2: [0, 0, 0], t3: [0, 0.6, 0.8], t4: [1, 0, 0] });
const queries = write('queries', { q1: [0, -5, 0], t1: [1, 1, 1] });

const open = (options: object, data: readonly TextOwner[] | null = DATA): Promise<Encoder> =>
  createEncoder(encoderOptions.parse({ encoder: 'precomputed', ...options }), {
    fitTexts: [],
    seed: 1,
    ...(data === null ? {} : { listOwners: () => data }),
  });

async function encode(encoder: Encoder, owners: readonly TextOwner[]): Promise<{ rows: number[]; line: string }> {
  const lines: string[] = [];
  const progress: StartProgress = () => ({ update() {}, finish: (remark) => void lines.push(remark ?? '') });
  const rows = await encoder.encode(
    owners.map(() => 'any text'),
    progress,
    { owners },
  );
  return { rows: [...rows].map((value) => Number(value.toPrecision(6))), line: lines.join() };
}

test('turns and queries have their own vectors, scaled to length 1', async () => {
  const encoder = await open({ turns, queries });
  expect(encoder.dimension).toBe(3);
  const { rows, line } = await encode(encoder, [query('q1'), turn('t3'), turn('t1'), turn('t2'), turn('t1')]);
  expect(rows).toEqual([0, -1, 0, 0, 0.6, 0.8, 0.6, 0.8, 0, 0, 0, 0, 0.6, 0.8, 0]);
  expect(line).toBe(
    `5 vectors of ${turns} and ${queries}; ` +
      `warning: 1 ids of ${turns} belong to no turn of the data, such as t4; ` +
      `warning: 1 ids of ${queries} belong to no query of the data, such as t1; ` +
      'warning: 1 vectors are zero, such as that of turn t2',
  );
});

test('one file may hold both; nothing is reported if all ids are known', async () => {
  const both = write('both', { t1: [1, 0], q1: [0, 1], 'x y': [1, 1] });
  const encoder = await open({ turns: both }, [turn('t1'), query('q1'), turn('x y')]);
  const { rows, line } = await encode(encoder, [turn('t1'), query('q1')]);
  expect(rows).toEqual([1, 0, 0, 1]);
  expect(line).toBe(`2 vectors of ${both}`);
});

test('without the data, ids that no text has are counted', async () => {
  const { line } = await encode(await open({ turns }, null), [turn('t1')]);
  expect(line).toMatch(/; warning: 3 ids of \S+ belong to no turn or query of the data, such as t2$/);
});

test('missing ids are an error that counts them and names the first', async () => {
  const encoder = await open({ turns, queries });
  const missing = [turn('t1'), turn('t8'), turn('t9'), query('q1'), query('t2')];
  await expect(encode(encoder, missing)).rejects.toThrow(
    new ValidationError(
      `precomputed: 2 of 3 turns have no vector in ${turns}, the first is t8; ` +
        `1 of 2 queries have no vector in ${queries}, the first is t2; add their vectors`,
      { missing: ['t8', 't9', 't2'] },
    ),
  );
});

test('a smaller dimension keeps the first components, scaled to length 1 again', async () => {
  const encoder = await open({ turns, queries, dimension: 2 });
  expect(encoder.dimension).toBe(2);
  expect((await encode(encoder, [turn('t3'), turn('t1'), query('q1')])).rows).toEqual([0, 1, 0.6, 0.8, 0, -1]);
  await expect(open({ turns, dimension: 4 })).rejects.toThrow(/expected at least 4, got 3; lower dimension$/);
});

test('files of two dimensions are an error', async () => {
  const flat = write('flat', { q1: [1, 0] });
  await expect(open({ turns, queries: flat })).rejects.toThrow(
    /flat\.safetensors: expected dimension 3 of \S+turns\.safetensors, got 2; use one model for turns and queries$/,
  );
});

test('texts without owners are an error, and so is a disposed encoder', async () => {
  const encoder = await open({ turns });
  await expect(encoder.encode(['a'])).rejects.toThrow(/looked up by id, and the texts have no owners; pass owners$/);
  encoder.dispose();
  await expect(encode(encoder, [turn('t1')])).rejects.toThrow(/^encoder was disposed: precomputed; /);
});

test('the identity is that of the content: of vectors, ids and options, and not of the path', async () => {
  const identify = (options: object) =>
    createEncoderSource(encoderOptions.parse({ encoder: 'precomputed', ...options }), { fitTexts: [], seed: 1 })
      .identity;
  const rows = { t1: [3, 4, 0] };
  const before = identify({ turns: write('one', rows) });
  expect(identify({ turns: write('two', rows) })).toEqual(before);
  const others = [
    identify({ turns: write('one', { t1: [3, 4, 1e-6] }) }),
    identify({ turns: write('one', { t2: [3, 4, 0] }) }),
    identify({ turns: write('two', rows), dimension: 2 }),
    identify({ turns: write('two', rows), queries: write('three', rows) }),
  ];
  for (const other of others) expect(other).not.toEqual(before);
  const sidecar = join(root, 'two.ids.txt');
  writeFileSync(sidecar, 't7');
  expect(identify({ turns: join(root, 'two.safetensors'), turnIds: sidecar })).not.toEqual(before);
});

test('the encoder has the identity that its source announced', async () => {
  const encoder = await open({ turns, queries });
  const source = createEncoderSource(encoderOptions.parse({ encoder: 'precomputed', turns, queries }), {
    fitTexts: ['of no influence'],
    seed: 7,
  });
  expect(encoder.identity).toEqual({ ...source.identity, dimension: 3 });
});
