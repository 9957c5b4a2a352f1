import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { openMemory } from '../memory/engine/open-memory.ts';
import { openStore } from '../memory/store/open-store.ts';
import type { MemoryRecord } from '../model/turns/turn.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-memory-'));
afterAll(() => rmSync(root, { recursive: true }));
const at = (name: string) => join(root, name);

function write(name: string, rows: readonly unknown[]): string {
  writeFileSync(at(name), rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));
  return at(name);
}

const ragpp = (...words: string[]) => runRagpp('memory', ...words);

const ROWS = [
  { id: 'a', embedding: [1, 0, 0], context: 'east', createdAt: 1000, outcome: 1, metadata: { place: 'x', size: 2 } },
  { id: 'b', embedding: [0.8, 0.6, 0], context: 'near\u2028east', createdAt: '1970-01-01T00:00:02Z', outcome: 0.5 },
  { id: 'c', embedding: [0, 1, 0], context: 'north', createdAt: 3000, channel: 'mail', metadata: { place: 'y' } },
];
const records = write('records.jsonl', ROWS);

async function listRecords(folder: string): Promise<MemoryRecord[]> {
  const store = await openStore(folder);
  await store.close();
  return [...store.records()];
}

test('records of a file are found again, with the prior over their outcomes', async () => {
  const folder = at('first');
  const imported = await ragpp('import', folder, records, '--set', 'indexes.graph.index=hnsw');
  expect(imported).toMatchObject({ code: 0, stdout: `${folder}: 3 records of 3 numbers\n` });
  const written = JSON.parse(readFileSync(join(folder, 'memory.json'), 'utf8'));
  expect(written).toEqual({ dimension: 3, indexes: { graph: { index: 'hnsw' } } });
  const { stdout } = await ragpp('query', folder, '--vector', '[1, 0, 0]', '--format', 'json', '--k', '2');
  const answer = JSON.parse(stdout);
  expect(answer).toMatchObject({ prior: { count: 2, mean: 0.75 }, indexesSearched: ['graph'] });
  expect(answer.candidates[0]).toMatchObject({ salience: 0.5, record: { id: 'a' } });
  expect(answer.candidates.map(({ recordId }: { recordId: string }) => recordId)).toEqual(['a', 'b']);
  const like = await ragpp('query', folder, '--id', 'a', '--index', 'graph', '--as-of', '1970-01-01T00:00:03Z');
  expect(like.stdout).toMatch(/^prior over the outcomes of 1 of 1 candidates\n {2}mean +0\.5\n/);
  expect(like.stdout).toMatch(/\n1 +b +0\.8 +0\.2 +0\.5 +1970-01-01 00:00 +near east\n$/);
  const filtered = await ragpp('query', folder, '--id', 'a', '--filter', 'place != $query.place and exists place');
  expect(filtered.stdout).toContain('prior over the outcomes of 0 of 1 candidates: not known');
  const misspelt = await ragpp('query', folder, '--id', 'a', '--filter', "plaec = 'east'");
  expect([misspelt.code, misspelt.stderr]).toEqual([1, expect.stringContaining('got plaec; did you mean place?')]);
});

test('a memory with a history answers as it did after a change, and at a time', async () => {
  const folder = at('history');
  await ragpp('import', folder, records, '--set', 'history=true');
  await ragpp('outcome', folder, '--id', 'a', '--value', '0');
  await ragpp(
    'import',
    folder,
    write('moved.jsonl', [{ ...ROWS[0], embedding: [0, 0, 1], context: 'up' }]),
    '--replace',
  );
  const ask = (...moment: string[]) => ragpp('query', folder, '--vector', '[1, 0, 0]', '--k', '1', ...moment);
  const early = await ask('--at', '1');
  expect(early.stdout).toMatch(/ the outcomes of 1 of 1 candidates\n {2}mean +1\n/);
  expect(early.stdout).toMatch(/\n1 +a +1 +0 +1 .* east\n$/);
  expect((await ask('--at', '2')).stdout).toMatch(/ 2 outcomes of 1 of 1 candidates\n {2}mean +0\.5\n/);
  expect((await ask('--at', '2999-01-01T00:00:00Z')).stdout).toBe((await ask()).stdout);
  expect((await ask()).stdout).toMatch(/\n1 +b /);
  expect((await ask('--at', '1999-01-01T00:00:00Z')).stdout).toContain('of 0 of 0 candidates');
  const like = await ragpp('query', folder, '--id', 'a', '--k', '1', '--at', '1');
  expect(like.stdout).toMatch(/\n1 +b +0\.8 /);
});

test('an outcome that is observed later changes the prior, and the order with the reranker outcome', async () => {
  const folder = at('observed');
  await ragpp('import', folder, records, '--set', 'reranker={method: outcome, alpha: 9}');
  const ask = async (...more: string[]) =>
    (await ragpp('query', folder, '--vector', '[1, 0, 0]', '--k', '2', ...more)).stdout;
  expect(await ask()).toMatch(
    /^prior over the outcomes of 2 of 2 candidates\n {2}mean +0\.75\n.*\n.*\n\n.*\n1 +a .*\n2 +b /,
  );
  for (const [id, value] of [
    ['a', '0'],
    ['a', '-1'],
    ['b', '1'],
  ] as const)
    expect(await ragpp('outcome', folder, '--id', id, '--value', value)).toMatchObject({ code: 0 });
  const { stdout } = await ragpp('outcome', folder, '--id', 'b', '--value', '1');
  expect(stdout).toBe('b: outcomes 3, mean 0.8333, from 0.5 to 1\n');
  expect(await ask()).toMatch(
    /^prior over 6 outcomes of 2 of 2 candidates\n {2}mean +0\.4167\n.*\n.*\n\n.*\n1 +b +6\.8 +0\.2 +0\.8333 .*\n2 +a +1 +0 +0 /,
  );
  expect(await ask('--pool', 'outcome')).toMatch(/^prior over the outcomes of 2 of 2 candidates\n {2}mean +0\.75\n/);
  expect((await ragpp('query', folder, '--id', 'a', '--pool', 'all')).code).toBe(2);
  for (const value of ['x', '', 'NaN', '1e999'])
    expect((await ragpp('outcome', folder, '--id', 'a', '--value', value)).stderr).toContain('not a finite number');
  const unknown = await ragpp('outcome', folder, '--id', 'z', '--value', '1');
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('has no record: z')]);
});

test('a memory that another process has is queried, counted and exported as it is', async () => {
  const folder = at('held');
  await ragpp('import', folder, records);
  const words = ['query', folder, '--id', 'a'];
  const free = await ragpp(...words);
  const writer = await openStore(folder);
  const held = await ragpp(...words);
  expect(held.stdout).toBe(free.stdout);
  expect(held.stderr).toMatch(/^only read: memory store .*held is not available: process \d+ on .* works on it\n$/);
  expect(await ragpp('stats', folder)).toMatchObject({ code: 0, stderr: '' });
  expect(await ragpp('export', folder, at('held.jsonl'))).toMatchObject({ code: 0 });
  await writer.close();
});

test('changes that were lost are one line, until others are made', async () => {
  const folder = at('lost');
  await ragpp('import', folder, records);
  for (const name of readdirSync(folder)) if (name.endsWith('.journal')) truncateSync(join(folder, name), 0);
  const line = new RegExp(
    `^warning: memory store ${folder} has lost change 1: 1 acknowledged at its end is missing; restore the folder from a copy, or make what is missing again\n$`,
  );
  expect((await ragpp('stats', folder)).stderr).toMatch(line);
  expect((await ragpp('query', folder, '--vector', '[1, 0, 0]')).stderr).toMatch(line);
  expect((await ragpp('import', folder, records)).stderr).toMatch(/^warning: .* has lost change 1:/);
  expect((await ragpp('query', folder, '--id', 'a')).stderr).toBe('');
});

test('rows of conversations become records, with vectors of a file by order', async () => {
  const turn = { conversationId: 'k', parentId: null, timestamp: '1970-01-01T00:00:05Z', text: 'hello' };
  const turns = write('turns.jsonl', [
    { ...turn, id: 't1', attributes: { outcome: 1, source: 'mail' } },
    { ...turn, id: 't2', parentId: 't1' },
  ]);
  await ragpp('import', at('vectors'), write('two.jsonl', ROWS.slice(0, 2)));
  await ragpp('export', at('vectors'), at('two.npy'));
  rmSync(at('two.ids.json'));
  expect(await ragpp('import', at('turns'), turns, '--vectors', at('two.npy'))).toMatchObject({ code: 0 });
  expect(await listRecords(at('turns'))).toMatchObject([
    { id: 't1', embedding: Float32Array.of(1, 0, 0), createdAt: 5000, outcome: 1, metadata: { source: 'mail' } },
    { id: 't2', parentId: 't1', conversationId: 'k', outcome: null },
  ]);
  const short = await ragpp('import', at('short'), write('one.jsonl', ROWS.slice(0, 1)), '--vectors', at('two.npy'));
  expect(short.stderr).toContain('which has no ids: expected 1, one for each row, got 2');
});

test('all bad rows are reported and nothing is written, or they are skipped and counted', async () => {
  const bad = write('bad.jsonl', [
    ROWS[0],
    '{"id": ',
    { ...ROWS[1], embedding: [1, 'x'] },
    { ...ROWS[1], embedding: [1, 2] },
    { ...ROWS[2], contxt: 'typing error' },
    '',
    ROWS[0],
    { ...ROWS[2], id: 'd', embedding: undefined },
    { ...ROWS[2], id: 'e', embedding: [1e39, 0, 0] },
  ]);
  const refused = await ragpp('import', at('bad'), bad);
  expect(refused.code).toBe(1);
  const places = [2, 3, 4, 5, 7, 8, 9].map((line) => `${bad}:${line}: `);
  for (const place of places) expect(refused.stderr).toContain(place);
  expect(refused.stderr).toMatch(
    /^ragpp \[VALIDATION\]: 7 errors in .*; correct and run again, or pass --on-dirty-row skip:/,
  );
  expect(refused.stderr).toContain(`${bad}:7: duplicate id: a, also in ${bad}:1; remove one`);
  expect(refused.stderr).toContain('d; add an embedding, or pass --vectors or --encoder');
  expect(existsSync(at('bad'))).toBe(false);
  const skipped = await ragpp('import', at('bad'), bad, '--on-dirty-row', 'skip');
  expect(skipped.stdout).toContain(`skipped in ${bad}: malformed row: 4\n`);
  expect((await listRecords(at('bad'))).map(({ id }) => id)).toEqual(['a']);
});

test('a record that is there is refused by its line, or replaced', async () => {
  const folder = at('again');
  await ragpp('import', folder, records);
  const changed = write('changed.jsonl', [
    { ...ROWS[0], id: 'new' },
    { ...ROWS[1], context: 'changed' },
  ]);
  const refused = await ragpp('import', folder, changed);
  expect(refused.stderr).toContain(`${changed}:2: duplicate id: b is in the memory; pass --replace to replace it`);
  expect(await listRecords(folder)).toHaveLength(3);
  expect(await ragpp('import', folder, changed, '--replace')).toMatchObject({ code: 0 });
  const found = await listRecords(folder);
  expect(found.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c', 'new']);
  expect(found.find(({ id }) => id === 'b')?.context).toBe('changed');
});

test.each(['.jsonl', '.parquet', '.safetensors', '.npy'])('%s loses nothing', async (ending) => {
  const folder = at(`from${ending}`);
  const store = await openStore(folder);
  await store.put([
    {
      id: 'full "\u2028" é',
      embedding: Float32Array.of(-0, 0.1, 1e-40),
      context: 'line\nfeed',
      createdAt: 0.5,
      outcome: 1 / 3,
      metadata: {
        entities: ['x', 'y'],
        tags: [],
        none: false,
        word: '12',
        stats: 's',
        number: 12,
        part: 0.25,
        embeddings: 'e',
      },
      trajectory: { depth: 1, siblingOrder: 2, homogeneity: 0.1, temporal: 4, complexity: 5 },
      conversationId: 'c',
      parentId: 'p',
      author: '',
      channel: 'mail',
    },
    { id: '12', embedding: Float32Array.of(1, 2, 3), context: '', createdAt: -7 },
  ]);
  await store.observe('12', 0.1);
  await store.observe('12', 0.7);
  const expected = [...store.records()];
  await store.close();
  const out = at(`out${ending}`);
  const written = expect.stringMatching(/^records: \d+ written \(\d+\.\d s\)\n$/);
  expect(await ragpp('export', folder, out)).toMatchObject({ code: 0, stderr: written });
  const files = ending === '.npy' ? [at('out.jsonl'), '--vectors', out] : [out];
  expect(await ragpp('import', at(`to${ending}`), ...files)).toMatchObject({ code: 0 });
  const found = await listRecords(at(`to${ending}`));
  expect(found).toEqual(expected);
  expect(Object.is(found[0]?.embedding[0], -0)).toBe(true);
});

test('an export shows how many records are written', async () => {
  const folder = at('shown');
  await ragpp('import', folder, records);
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 31_000));
  const shown: string[] = [];
  for (const ending of ['.jsonl', '.safetensors', '.npy'])
    shown.push((await ragpp('export', folder, at(`shown${ending}`))).stderr);
  clock.mockRestore();
  for (const lines of shown) expect(lines).toMatch(/^records: 1 of 3.*\nrecords: 2 of 3.*\nrecords: 3 of 3\n/);
});

test('an import writes each record once: four times the records are four times the journal, in entries of 1,024', async () => {
  const measure = async (count: number) => {
    const rows = Array.from({ length: count }, (_, i) => ({ ...ROWS[0], id: `r${String(i).padStart(5, '0')}` }));
    const folder = at(`${count}-records`);
    await ragpp('import', folder, write(`${count}.jsonl`, rows));
    const stats = JSON.parse((await ragpp('stats', folder, '--format', 'json')).stdout);
    return { journal: stats.bytes.journal as number, changes: stats.sequence as number };
  };
  const [few, many] = [await measure(1024), await measure(4096)];
  expect([few.changes, many.changes]).toEqual([1, 4]);
  expect(many.journal).toBe(4 * few.journal);
});

test('texts are embedded by the encoder that later texts are searched with', async () => {
  const bare = ROWS.map(({ embedding: _, ...row }) => row);
  const cache = ['--cache', at('cache')];
  const words = ['import', at('texts'), write('bare.jsonl', bare), '--encoder', 'use-lite', ...cache];
  expect(await ragpp(...words)).toMatchObject({ code: 0, stdout: `${at('texts')}: 3 records of 512 numbers\n` });
  const { stdout } = await ragpp('query', at('texts'), '--text', 'north', '--k', '1', ...cache);
  expect(stdout).toMatch(/\n1 +c +1 /);
});

test('stats count what is there', async () => {
  const folder = at('counted');
  await ragpp('import', folder, records);
  const memory = await openMemory({ folder, dimension: 3 });
  await memory.updateStats('a', 0.25);
  await memory.close();
  const stats = JSON.parse((await ragpp('stats', folder, '--format', 'json')).stdout);
  expect(stats).toMatchObject({
    records: 3,
    dimension: 3,
    sequence: 2,
    indexes: [{ name: 'main', index: 'flat', saved: 'saved' }],
    attributes: [
      { name: 'place', type: 'string', records: 2 },
      { name: 'size', type: 'number', records: 1 },
    ],
    outcomes: { count: 2, mean: 0.75 },
    feedback: { count: 1, mean: 0.25 },
  });
  expect(stats.bytes.journal).toBeGreaterThan(3 * 3 * 4);
  expect((await ragpp('stats', folder)).stdout).toMatch(/^outcomes +2, mean 0\.75, from 0\.5 to 1$/m);
});

test('turns that make a memory get coordinates, records do not unless an option asks for it', async () => {
  const turn = (id: string, parentId: string | null, timestamp: number) => {
    return { id, parentId, timestamp, conversationId: 'talk', text: 'The printer is empty.', embedding: [1, 0, 0] };
  };
  const file = write('turns-placed.jsonl', [turn('t1', null, 1000), turn('t2', 't1', 2000), turn('t3', 't1', 3000)]);
  const folder = at('placed');
  await ragpp('import', folder, file);
  const found = await listRecords(folder);
  expect(found.map(({ trajectory }) => [trajectory?.depth, trajectory?.siblingOrder, trajectory?.temporal])).toEqual([
    ...[
      [0, 0, 0],
      [1, 0, 1],
    ],
    [1, 1, 1],
  ]);
  await ragpp('import', at('unplaced'), file, '--set', 'coordinates=false');
  await ragpp('import', at('unplaced-records'), records);
  for (const name of ['unplaced', 'unplaced-records'])
    expect((await listRecords(at(name))).map(({ trajectory }) => trajectory)).toEqual([null, null, null]);
  await ragpp('import', at('placed-records'), records, '--set', 'coordinates=true');
  expect((await listRecords(at('placed-records')))[0]?.trajectory).toMatchObject({ depth: 0, homogeneity: 1 });
});

const makeLong = (id: string, length: number, createdAt = 0) => {
  return { id, context: 'text', createdAt, embedding: [length, 0, 0] };
};

test('stats show what is conserved, and draw it over time', async () => {
  const folder = at('conserved');
  const rows = [1, 1, 2].map((length, i) => makeLong(`r${i}`, length, 1000 * i));
  await ragpp('import', folder, write('conserved.jsonl', rows));
  const stats = await ragpp('stats', folder, '--figure', at('over-time.html'));
  expect(stats.stdout).toMatch(
    /^magnitude +1\.333\nenergy +0\.5, coherence 1\ninformation +1\.099 nats of at most 1\.099\ndrift +0\.3333 by the newest 2 records$/m,
  );
  expect(readFileSync(at('over-time.html'), 'utf8')).toMatch(/<h1>Conservation of .*conserved<\/h1>/);
  const { stdout } = await ragpp('stats', folder, '--format', 'json', '--figure', at('over-time.json'));
  const { conservation } = JSON.parse(stdout);
  expect(conservation.map(({ time, drift }: Record<string, number>) => [time, drift])).toEqual([
    ...[
      [0, null],
      [1000, 0],
    ],
    [2000, expect.closeTo(1 / 3, 12)],
  ]);
  const { data } = JSON.parse(readFileSync(at('over-time.json'), 'utf8'));
  expect(data[1]).toMatchObject({ name: 'magnitude M', y: [1, 1, expect.closeTo(4 / 3, 12)] });
  const wrong = await ragpp('stats', folder, '--figure', at('over-time.png'));
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('figure is written as .html or .json')]);
});

test('a change that breaks a law of conservation is printed, or refused, as the options of the folder say', async () => {
  const writeLong = (id: string, length: number) => write(`${id}.jsonl`, [makeLong(id, length)]);
  const folder = at('guarded');
  const first = await ragpp('import', folder, writeLong('first', 1), '--set', 'conservation.mode=warn');
  expect(first.stderr).not.toContain('warning');
  const second = await ragpp('import', folder, writeLong('second', 3));
  expect(second.stderr).toContain('warning: change 2: magnitude went from 1 to 2, a drift of 1;');
  const refused = await ragpp('import', folder, writeLong('third', 9), '--set', 'conservation.mode=refuse');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('raise magnitudeThreshold (0.05)')]);
  expect((await ragpp('stats', folder)).stdout).toMatch(/^records +2$/m);
});

test('times of all that a date can be are read and shown; nanoseconds are refused', async () => {
  const folder = at('times');
  const [first] = ROWS;
  const rows = [8.64e15, -8.64e15, 0].map((createdAt, i) => ({ ...first, id: `t${i}`, createdAt }));
  expect(await ragpp('import', folder, write('times.jsonl', rows))).toMatchObject({ code: 0 });
  expect((await ragpp('query', folder, '--id', 't2')).stdout).toContain(' +275760-09-13 ');
  const late = await ragpp('import', folder, write('late.jsonl', [{ ...first, createdAt: 1.7e18 }]));
  expect(late.stderr).toContain('createdAt: expected a time in milliseconds since 1970, at most 8.64e15');
});

test('a store that a program made, which has no memory.json, is a memory with the default options', async () => {
  const folder = at('of-program');
  const memory = await openMemory({ folder, dimension: 2, indexes: { graph: { index: 'hnsw' } } });
  await memory.addBatch([
    { id: 'a', embedding: Float32Array.of(1, 0), context: 'east', createdAt: 0 },
    { id: 'b', embedding: Float32Array.of(0, 1), context: 'north', createdAt: 0 },
  ]);
  await memory.close();
  expect((await ragpp('query', folder, '--id', 'a')).stdout).toContain('north');
  expect((await ragpp('stats', folder)).stdout).toMatch(/^records +2$/m);
  expect(await ragpp('export', folder, at('of-program.jsonl'))).toMatchObject({ code: 0 });
  expect(await ragpp('repair', folder, '--into', at('of-repair'))).toMatchObject({ code: 0 });
  expect(await listRecords(at('of-repair'))).toEqual(await listRecords(folder));
  expect(await ragpp('import', folder, at('of-program.jsonl'), '--replace')).toMatchObject({ code: 0 });
});

test.each(['null', '[]', '3', '"text"', '{'])('settings that are %s are refused, and stay', async (text) => {
  const folder = at('unset');
  if (!existsSync(folder)) await ragpp('import', folder, records);
  writeFileSync(join(folder, 'memory.json'), text);
  const message = `settings of a memory are no JSON object: ${join(folder, 'memory.json')}; correct the file`;
  for (const words of [
    ['query', folder, '--id', 'a'],
    ['stats', folder],
    ['import', folder, records],
  ])
    expect(await ragpp(...words)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
  expect(readFileSync(join(folder, 'memory.json'), 'utf8')).toBe(text);
});

test('a damaged memory names the repair, which saves the rest', async () => {
  const folder = at('damaged');
  for (const row of ROWS) await ragpp('import', folder, write(`${row.id}.jsonl`, [row]));
  const journals = readdirSync(folder).filter((name) => name.endsWith('.journal'));
  const path = join(folder, journals[0] as string);
  const bytes = readFileSync(path);
  const place = bytes.indexOf('east');
  bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
  writeFileSync(path, bytes);
  const refused = await ragpp('query', folder, '--id', 'b');
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain(`ragpp memory repair ${folder} --into FOLDER`);
  const repaired = await ragpp('repair', folder, '--into', at('repaired'));
  expect(repaired).toMatchObject({ code: 1, stderr: expect.stringMatching(/^changes: .*\nrecords: 2 written .*\n$/) });
  expect(repaired.stdout).toBe(`saved: 2 records in ${at('repaired')}\nlost: changes 1 to 1\n`);
  expect((await ragpp('query', at('repaired'), '--id', 'b')).stdout).toContain('north');
  const sound = await ragpp('repair', at('repaired'), '--into', at('copy'));
  expect(sound).toMatchObject({ code: 0, stdout: `saved: 2 records in ${at('copy')}\nnothing was lost\n` });
});

test.each([
  [['query', 'none', '--id', 'a'], 1, 'folder has no memory: none'],
  [['export', 'none', 'out.jsonl'], 1, 'folder has no memory: none'],
  [['stats', 'none'], 1, 'folder has no memory: none'],
  [['repair', 'none', '--into', 'new'], 1, 'folder has no memory: none'],
  [['query', 'FOLDER', '--id', 'z'], 1, 'has no record: z'],
  [['query', 'FOLDER', '--text', 'east'], 1, 'import with --encoder'],
  [['query', 'FOLDER', '--id', 'a', '--vector', '[1]'], 2, 'give exactly one of --text, --vector and --id'],
  [['query', 'FOLDER', '--vector', '[1, 2]'], 1, 'expected 3, got 2'],
  [['query', 'FOLDER', '--vector', 'gone.npy'], 1, 'neither a JSON list nor a file: gone.npy'],
  [['query', 'FOLDER', '--id', 'a', '--filter', 'place ='], 1, 'invalid filter at line 1'],
  [['query', 'FOLDER', '--id', 'a', '--index', 'graf'], 1, 'there is no index of this name: graf'],
  [['query', 'FOLDER', '--id', 'a', '--as-of', 'noon'], 2, 'a time in ISO 8601'],
  [['query', 'FOLDER', '--id', 'a', '--at', 'noon'], 2, 'in --at; correct and run again'],
  [['query', 'FOLDER', '--id', 'a', '--at', '1'], 1, 'memory has no history; open it with history: true'],
  [['import', 'FOLDER', 'x.jsonl', '--set', 'clock=1'], 2, 'clock'],
  [['export', 'FOLDER', 'out.csv'], 1, 'another ending: out.csv'],
  [['import', 'FOLDER', 'x.npy'], 1, 'import records with --vectors x.npy'],
  [['import', 'FOLDER', 'x.jsonl', '--encoder', 'lsa'], 2, 'expected one of use-lite'],
  [['import', 'FOLDER', 'x.jsonl', '--set', 'indexs.main.index=flat'], 2, 'did you mean indexes'],
  [['import', root, 'x.jsonl'], 1, 'files that are not of a memory'],
])('%j ends with what to do', async (words, code, message) => {
  const folder = at('errors');
  if (!existsSync(folder)) await ragpp('import', folder, records);
  if (words[2] === 'x.npy') writeFileSync(at('x.npy'), '');
  const outcome = await ragpp(
    ...words.map((word) => (word === 'FOLDER' ? folder : word === 'x.npy' ? at(word) : word)),
  );
  expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({ code, stdout: '' });
  expect(outcome.stderr.replaceAll(`${root}/`, '')).toContain(message);
});

test('a memory in use names the process that has it', async () => {
  const folder = at('locked');
  await ragpp('import', folder, records);
  const memory = await openMemory({ folder, dimension: 3 });
  expect((await ragpp('import', folder, records)).stderr).toContain(`process ${process.pid} on`);
  await memory.close();
});
