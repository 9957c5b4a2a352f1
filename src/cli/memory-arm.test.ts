import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readRun } from '../eval/trec/trec-files.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { openFactStore } from '../memory/facts/fact-store.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-memory-arm-'));
afterAll(() => rmSync(root, { recursive: true }));
const data = join(root, 'data');
const config = join(root, 'config.yaml');
const cache = ['--cache', join(root, 'cache')];
const memory = (...words: string[]) => runRagpp('memory', ...words, ...cache);

beforeAll(() => {
  mkdirSync(data);
  writeSampleJsonl(data);
  writeFileSync(config, stringify(buildSampleConfig(data)));
});

test('a folder answers by the arm that it was opened with, tuned, over what is imported later', async () => {
  const folder = join(root, 'notes');
  const opened = await memory('open', folder, '--config', config, '--arm', 'Decayed × 2');
  expect(opened.stdout).toBe(`${folder}: 0 records of 13 numbers, answered by Decayed × 2\n`);
  const kept = readFileSync(join(folder, 'arm.yaml'), 'utf8');
  expect(kept).toMatch(/halfLifeHours: (12|96)\n/);
  expect(kept).not.toContain('halfLifeHours:\n');
  const imported = await memory('import', folder, join(data, 'turns.jsonl'));
  expect(imported.stdout).toMatch(/: \d+ records of 13 numbers\n$/);
  const asked = await memory('query', folder, '--text', 'violin bow bridge', '--k', '3');
  expect(asked.stdout).toMatch(
    /^Decayed × 2\nprior over the outcomes of 0 of 3 candidates: not known.*\n\nrank +record/,
  );
  const { stdout } = await memory('query', folder, '--text', 'violin bow bridge', '--k', '3', '--format', 'json');
  const answer = JSON.parse(stdout);
  expect(answer).toMatchObject({ arm: 'Decayed × 2', prior: { count: 0 } });
  expect(answer.ranking).toHaveLength(3);
  expect(answer.ranking[0]).toMatchObject({ rank: 1, parts: { hnsw: expect.any(Number) }, record: { outcome: null } });
  const early = await memory('query', folder, '--text', 'violin bow', '--as-of', '2024-05-01T00:00:00Z');
  expect(early.stdout).toContain('of 0 candidates');
  const filtered = await memory('query', folder, '--text', 'violin', '--filter', "channel = 'even'");
  expect([filtered.code, filtered.stderr]).toEqual([2, expect.stringContaining('an arm answers')]);
});

test('an outcome that is recorded changes what the arm ranks first, as far as it is pooled', async () => {
  const [folder, turns] = [join(root, 'outcomes'), join(data, 'turns.jsonl')];
  const [first = '', ...rest] = readFileSync(turns, 'utf8').split('\n');
  writeFileSync(turns, [JSON.stringify({ ...JSON.parse(first), attributes: { outcome: 0 } }), ...rest].join('\n'));
  const sample = buildSampleConfig(data) as { readonly arms: object };
  const boosted = [{ search: { bm25: { k: 17 } } }, { boost: [{ attribute: 'outcome', factor: 9 }] }];
  writeFileSync(config, stringify({ ...sample, arms: { ...sample.arms, boosted } }));
  await memory('open', folder, '--config', config, '--arm', 'boosted');
  await memory('import', folder, turns);
  const ask = async (...flags: string[]) => {
    const { stdout } = await memory('query', folder, '--text', 'violin bow bridge', '--format', 'json', ...flags);
    return JSON.parse(stdout) as { prior: { mean: number | null }; ranking: { id: string }[] };
  };
  const { ranking, prior } = await ask();
  expect(prior.mean).toBeNull();
  const { id } = ranking.at(-1) as { id: string };
  await runRagpp('memory', 'outcome', folder, '--id', id, '--value', '1');
  const answer = await ask();
  expect([answer.prior.mean, answer.ranking[0]?.id]).toEqual([1, id]);
  expect((await ask('--pool', 'outcome')).ranking.map((one) => one.id)).toEqual(ranking.map((one) => one.id));
});

test('what a removal takes of the judgements of the arm is counted, unless its dataset is missing', async () => {
  const folder = join(root, 'forgetting');
  await memory('open', folder, '--config', config, '--arm', 'hybrid');
  await memory('import', folder, join(data, 'turns.jsonl'));
  const remove = () => memory('remove', folder, '--filter', "channel = 'even'", '--dry-run');
  const counted = /^judgements: (\d+) of (\d+) relevant records removed\nqueries: /m;
  const [, removed, relevant] = counted.exec((await remove()).stdout) ?? [];
  expect(Number(removed)).toBeGreaterThan(0);
  expect(Number(relevant)).toBeGreaterThan(Number(removed));
  const arm = join(folder, 'arm.yaml');
  writeFileSync(arm, readFileSync(arm, 'utf8').replaceAll(data, join(root, 'moved')));
  const { code, stdout, stderr } = await remove();
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^lost judgements are not counted: .*moved/)]);
  expect(stdout).not.toContain('judgements');
});

test('a prompt has the records as they are, with facts about what the question names', async () => {
  const folder = join(root, 'asked');
  await memory('open', folder, '--config', config, '--arm', 'hybrid');
  await memory('import', folder, join(data, 'turns.jsonl'));
  const facts = await openFactStore(join(folder, 'facts'));
  const bow = { id: 'f1', source: 'the bow', relation: 'is kept in', target: 'the attic', validFrom: 0 };
  await facts.assert(bow, 1);
  await facts.close();
  const ask = (...words: string[]) => memory('ask', folder, 'When did the bow leave the violin?', ...words);
  const { stdout } = await ask('--budget', '300', '--facts', join(folder, 'facts'), '--cite');
  const first = /^ {3}1\. \[x\] \d\.\d+ {2}(\S+) /m.exec(stdout)?.[1] as string;
  expect(stdout).toMatch(
    /- \[fact:f1\] the bow is kept in the attic, since 1970-01-01 \(facts, .* UTC; names the bow; /,
  );
  expect(stdout).toMatch(new RegExp(`- \\[${first}\\] .*UTC, .* ago; rank 1: .*hnsw \\S+`));
  expect(stdout).toMatch(
    /\nhybrid, after \d+ changes; \d+ of 300 tokens; \[x\] is in the prompt\nbeside: \[x\] fact:f1 /,
  );
  const past = await ask('--at', '1', '--format', 'json');
  expect([past.code, past.stderr]).toEqual([1, expect.stringContaining('memory has no history; open it with history')]);
  await memory('remove', folder, '--filter', `id = '${first}'`);
  const { stdout: json } = await ask('--format', 'json');
  const answer = JSON.parse(json);
  expect(answer).toMatchObject({ datesIn: 'UTC', beside: [], withheld: 0, sequence: expect.any(Number) });
  expect(answer.ranking.map(({ id }: { readonly id: string }) => id)).not.toContain(first);
  const before = await ask('--as-of', '2024-05-01T00:00:00Z');
  expect(before.stdout).toContain('0 of 2000 tokens');
  const missing = await ask('--facts', join(root, 'nowhere'));
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('nowhere; check that the path exists')]);
  const bare = join(root, 'bare');
  const records = join(root, 'bare.jsonl');
  writeFileSync(records, `${JSON.stringify({ id: 'a', embedding: [1, 0], context: 'east', createdAt: 1000 })}\n`);
  await memory('import', bare, records);
  const { code, stderr: refused } = await memory('ask', bare, 'east?');
  expect([code, refused]).toEqual([
    1,
    expect.stringContaining('has no arm to answer by; give it one with ragpp memory open'),
  ]);
});

test('a memory with records of another encoder is refused, and keeps its answers', async () => {
  const folder = join(root, 'other');
  const records = join(root, 'records.jsonl');
  writeFileSync(records, `${JSON.stringify({ id: 'a', embedding: [1, 0], context: 'east', createdAt: 1000 })}\n`);
  await memory('import', folder, records);
  const { code, stderr } = await memory('open', folder, '--config', config, '--arm', 'hybrid');
  expect([code, stderr]).toEqual([1, expect.stringMatching(/expected 13.*got 2|expected 2.*got 13/)]);
  expect(existsSync(join(folder, 'arm.yaml'))).toBe(false);
  const asked = await memory('query', folder, '--vector', '[1, 0]');
  expect(asked.stdout).toMatch(/\n1 +a /);
});

test('a replay says that the files are equal, and writes what the memory answered', async () => {
  const out = join(root, 'live.trec');
  const { code, stdout } = await memory('replay', config, '--arm', 'hybrid', '--queries', '5', '--out', out);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(
      /^hybrid: 5 queries to a memory of up to \d+ turns\nthe run files of memory and run are equal, byte for byte\n$/,
    ),
  ]);
  expect(readRun(out).size).toBe(5);
  const unknown = await memory('replay', config, '--arm', 'none');
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('none')]);
});
