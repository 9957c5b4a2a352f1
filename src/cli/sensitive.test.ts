import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, EmbeddingService, type ReceivedRequest } from '../core/service/embedding-service.harness.ts';
import { buildSampleConfig } from '../lab/run/jsonl.fixture.ts';
import { buildSampleTrainingConfig } from '../lab/training/training-config.fixture.ts';
import { SECRET, writeSecretJsonl } from '../sensitive.fixture.ts';
import { runRagpp } from './command.harness.ts';
import { startKernel } from './kernel-process.harness.ts';

const REFUSED = /encoder openai-compatible sends texts off this machine, and \d+ of \d+ are sensitive/;
const root = mkdtempSync(join(tmpdir(), 'ragpp-sensitive-'));
const at = (...names: string[]) => join(root, ...names);
const service = EmbeddingService.useInTests();
afterAll(() => rmSync(root, { recursive: true }));

const encoder = (more: object = {}) => ({
  ...{ encoder: 'openai-compatible', baseUrl: service.baseUrl, model: 'm', dimension: 5 },
  ...{ maxAttempts: 1, ...more },
});
const writeJson = (path: string, value: object) => writeFileSync(path, JSON.stringify(value));
const writeLines = (path: string, rows: readonly object[]) =>
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

/** Files of a folder that hold a text, by their paths within it. */
const listLeaks = (folder: string, text = SECRET) =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path, 'latin1').includes(text))
    .map((path) => relative(folder, path));

/** Runs a command and expects that it prints none of the texts. @returns what it printed. */
async function runSilently(texts: readonly string[], code: number, ...words: string[]) {
  const outcome = await runRagpp(...words);
  const printed = outcome.stdout + outcome.stderr;
  expect([words.slice(0, 2), outcome.code], printed).toEqual([words.slice(0, 2), code]);
  for (const text of texts) expect(printed, words.join(' ')).not.toContain(text);
  return outcome;
}

describe('conversations with sensitive turns', () => {
  const data = at('data');
  const folders = ['--cache', at('cache'), '--results', at('results')];
  const ragpp = (...words: string[]) => runSilently([SECRET], 0, ...words);
  const findRun = (name: string) =>
    at('results', readdirSync(at('results')).find((found) => new RegExp(`^${name}-[0-9a-f]+$`).test(found)) as string);

  beforeAll(async () => {
    mkdirSync(data);
    writeSecretJsonl(data);
    writeJson(at('run.yaml'), buildSampleConfig(data));
    writeJson(at('train.yaml'), buildSampleTrainingConfig(data));
    await ragpp('run', at('run.yaml'), '--controls', ...folders);
  });

  test('a run writes none of their texts, nor does what reads its folder', async () => {
    const run = findRun('sample');
    expect(readFileSync(join(run, 'report.html'), 'utf8')).toContain('(sensitive: not shown)');
    await ragpp('table', run);
    await ragpp('results', at('results'));
    await ragpp('compare', run, '--all-pairs');
    await ragpp('compare', run, run, '--html', at('results', 'pair.html'));
    await ragpp('rescore', run, '--metrics', 'recall@3');
    const files = readdirSync(join(run, 'runs')).map((name) => join(run, 'runs', name));
    const of = ['--data', 'jsonl', '--set', `dataset.path=${data}`];
    await ragpp('score', ...files, ...of, '--results', at('results'), '--cache', at('cache'));
    writeFileSync(at('page.md'), '<!-- results/sample/table.md -->\n<!-- end of table -->\n');
    await ragpp('publish', run, '--document', at('page.md'), '--results', at('published'));
    expect([listLeaks(at('results')), listLeaks(at('published'))]).toEqual([[], []]);
  });

  test('a fit and a look at its test split write none', async () => {
    await ragpp('run', at('train.yaml'), ...folders);
    await ragpp('test-weights', findRun('sample-training'), '--cache', at('cache'));
    expect(listLeaks(at('results'))).toEqual([]);
  });

  test('a listing of the data and the pairs for a judge print none', async () => {
    await ragpp('data', 'jsonl', '--set', `path=${data}`, '--cache', at('cache'));
    const options = ['--data', 'jsonl', '--set', `dataset.path=${data}`, '--generator', 'ana', '--cache', at('cache')];
    await ragpp('judge', 'pool', findRun('sample'), '--into', at('pool.jsonl'), ...options);
    expect(listLeaks(root).sort()).toEqual(['data/queries.jsonl', 'data/turns.jsonl', 'pool.jsonl']); // with texts, as documented
  });

  test('a prompt holds them for a sensitive question alone', async () => {
    const ask = (...words: string[]) =>
      runRagpp('ask', at('run.yaml'), '--arm', 'hybrid', 'the kernel patch', '--cache', at('cache'), ...words);
    const open = await ask();
    expect(open.stdout).toMatch(/\nwithheld: \d+ sensitive turns; with --sensitive /);
    const json = await ask('--json');
    expect(JSON.parse(json.stdout).withheld).toBeGreaterThan(0);
    for (const { code, stdout, stderr } of [open, json]) {
      expect(code, stderr).toBe(0);
      expect(stdout + stderr).not.toContain(SECRET);
    }
    const closed = await ask('--sensitive');
    expect(closed.stdout).toContain(SECRET);
    expect(closed.stdout).not.toContain('withheld');
  });

  test('an encoder that is a service is refused, and gets none', async () => {
    const words = ['--set', `embedding=${JSON.stringify(encoder())}`, '--cache', at('other'), '--results', at('none')];
    const { stderr } = await runSilently([SECRET], 1, 'run', at('run.yaml'), ...words);
    expect(stderr).toMatch(REFUSED);
    expect(service.received).toEqual([]);
    expect([listLeaks(at('other')), listLeaks(at('none'))]).toEqual([[], []]);
  });
});

describe('a memory with sensitive records', () => {
  const memory = at('memory');
  const ragpp = (...words: string[]) => runSilently([SECRET], 0, 'memory', ...words);
  const HOUR = 3_600_000;
  /** Episodes of one session; every third is sensitive. */
  const rows = Array.from({ length: 30 }, (_, i) => ({
    ...{ id: `r${i}`, conversationId: 'c', createdAt: HOUR * i, outcome: (i % 5) / 4, embedding: [1, i / 30] },
    context: i % 3 === 0 ? `the safe opens with ${SECRET}` : `the safe of floor ${i} opens late, so wait for it`,
    metadata: {
      ...{ memoryType: 'episodic', userId: 'ana' },
      ...(i % 3 === 0 && { sensitive: true, title: SECRET }),
    },
  }));

  beforeAll(async () => {
    writeLines(at('records.jsonl'), rows);
    await ragpp('import', memory, at('records.jsonl'));
  });

  test('shows none of their texts and titles, and names the records', async () => {
    for (const asked of [
      ['--vector', '[1, 0]'],
      ['--id', 'r4'],
      ['--vector', '[1, 0]', '--log'],
    ])
      for (const format of ['text', 'json']) {
        const { stdout } = await ragpp('query', memory, ...asked, '--k', '9', '--format', format);
        expect(stdout).toContain('r3');
        expect(stdout).toContain('(sensitive: not shown)');
        expect(stdout).toMatch(/the safe of floor \d/);
      }
    await ragpp('stats', memory);
    await ragpp('consolidate', memory, '--set', 'minEpisodes=3');
    await ragpp('consolidate', memory, '--undo');
    writeLines(at('more.jsonl'), [
      { ...rows[0], id: 'n0' },
      { ...rows[1], id: 'n1' },
    ]);
    await ragpp('curate', memory, at('more.jsonl'));
    await ragpp('undo', memory, '--all');
    writeLines(at('broken.jsonl'), [{ ...rows[0], createdAt: SECRET }]);
    await runSilently([SECRET], 1, 'memory', 'import', memory, at('broken.jsonl'));
  });

  test('keeps them in the store, and gives them to an export', async () => {
    await ragpp('export', memory, at('exported.jsonl'));
    expect(readFileSync(at('exported.jsonl'), 'utf8').split(SECRET)).toHaveLength(1 + 20);
    expect(listLeaks(memory).filter((path) => !/^[\w-]+\.journal$|^indexes\/main\/rows-\w+\//.test(path))).toEqual([]);
  });

  test('neither an import nor a question with --sensitive sends a text to a service', async () => {
    const plain = ['a', 'b'].map((id) => ({ id, context: `the safe ${id}`, createdAt: 1 }));
    writeLines(at('plain.jsonl'), plain);
    writeLines(at('all.jsonl'), [...plain, { id: 'c', context: SECRET, createdAt: 2, metadata: { sensitive: true } }]);
    const cache = ['--cache', at('memory-cache')];
    const load = (code: number, name: string) =>
      runSilently(
        [SECRET],
        code,
        ...['memory', 'import', at('served'), at(name), '--set', `encoder=${JSON.stringify(encoder())}`, ...cache],
      );
    expect((await load(1, 'all.jsonl')).stderr).toMatch(REFUSED);
    expect([existsSync(at('served')), service.received]).toEqual([false, []]);
    await load(0, 'plain.jsonl');
    const sent = service.received.length;
    const ask = (code: number, ...words: string[]) =>
      runSilently([SECRET], code, 'memory', 'query', at('served'), ...words, ...cache);
    expect((await ask(1, '--text', SECRET, '--sensitive')).stderr).toMatch(REFUSED);
    await ask(2, '--vector', '[1, 0, 0, 0, 0]', '--sensitive');
    expect(service.received).toHaveLength(sent);
    expect([listLeaks(at('served')), listLeaks(at('memory-cache'))]).toEqual([[], []]);
    expect((await ask(0, '--text', 'the safe')).stdout).toContain('the safe a');
    expect(service.received).toHaveLength(sent + 1);
  });
});

describe('a service that repeats what it gets, with the key', () => {
  const [KEY, SENT] = ['sk-qy5822kw', 'plaintext93'];
  const variable = 'RAGPP_TEST_SERVICE_KEY';
  const keyed = ['--set', `apiKeyVariable=${variable}`];
  const repeat = (status: number) => (request: ReceivedRequest) => ({
    status,
    body: `no: ${JSON.stringify(request.body)} ${request.authorization}`,
  });
  const say = (request: ReceivedRequest): Answer => ({
    status: 200,
    body: { choices: [{ message: { content: `${request.authorization} ${request.body.messages?.at(-1)?.content}` } }] },
  });

  beforeAll(() => {
    process.env[variable] = KEY;
    mkdirSync(at('open'));
    const turns = Array.from({ length: 8 }, (_, i) => ({
      ...{ id: `t${i}`, conversationId: `c${i >> 1}`, parentId: null, timestamp: 1000 * i, text: `${SENT} of ${i}` },
    }));
    writeLines(at('open', 'turns.jsonl'), turns);
    writeLines(
      at('open', 'queries.jsonl'),
      ['q0', 'q1'].map((id) => ({ id, text: `${SENT} ${id}`, timestamp: 99_000, cluster: id })),
    );
    writeFileSync(at('open', 'qrels.txt'), 'q0 0 t5 1\nq1 0 t6 1\n');
    writeJson(at('open.yaml'), {
      ...{ name: 'open', seed: 3, backend: 'cpu', dataset: { name: 'jsonl', path: at('open') } },
      embedding: { ...encoder({ apiKeyVariable: variable }), baseUrl: 'http://127.0.0.1:1' },
      evaluation: { split: 'all', baseline: 'cosine', samples: 100, metrics: ['mrr@10'] },
      arms: { cosine: [{ search: { flat: { k: 5 } } }] },
    });
    writeLines(at('open.jsonl'), [{ id: 'a', context: `${SENT} a`, createdAt: 1, embedding: [1, 0] }]);
    writeLines(at('near.jsonl'), [{ id: 'b', context: `${SENT} b`, createdAt: 2, embedding: [1, 0] }]);
    const pair = { query: 'q', queryText: SENT, id: 't', text: SENT, stratum: null, generator: 'ana' };
    writeLines(at('open-pool.jsonl'), [pair]);
  });

  /** The commands that ask a service, by what they write. */
  const commands = (): Record<string, readonly string[]> => {
    const url = ['--base-url', service.baseUrl, '--model', 'm'];
    const once = ['--set', 'maxAttempts=1'];
    return {
      'open-results': [
        'run',
        at('open.yaml'),
        '--set',
        `embedding.baseUrl=${service.baseUrl}`,
        '--cache',
        at('open-cache'),
      ],
      judged: ['judge', 'ask', at('open-pool.jsonl'), ...url, ...once, ...keyed],
      extracted: [
        'graph',
        'extract',
        at('open.yaml'),
        ...url,
        '--service',
        'maxAttempts=1',
        '--api-key-variable',
        variable,
      ],
      imported: [
        ...['memory', 'import', at('open-memory'), at('plain.jsonl'), '--cache', at('open-cache')],
        ...['--set', `encoder=${JSON.stringify(encoder({ apiKeyVariable: variable }))}`],
      ],
      curated: [
        ...['memory', 'curate', at('near-memory'), at('near.jsonl'), '--decider', 'endpoint', ...url],
        ...['--set', 'endpoint.maxAttempts=1', '--set', `endpoint.apiKeyVariable=${variable}`],
      ],
    };
  };

  test.each([
    ['of status 400', repeat(400)],
    ['of status 503', repeat(503)],
    ['that is not JSON', repeat(200)],
    ['of another form', say],
  ])('has neither text nor key in an error about an answer %s', async (_, answer) => {
    writeLines(at('plain.jsonl'), [{ id: 'a', context: SENT, createdAt: 1 }]);
    rmSync(at('near-memory'), { recursive: true, force: true });
    await runSilently([], 0, 'memory', 'import', at('near-memory'), at('open.jsonl'));
    for (const [name, words] of Object.entries(commands())) {
      service.reset();
      service.answer = answer;
      const into = name === 'open-results' ? ['--results', at(name)] : name === 'judged' ? ['--into', at(name)] : [];
      const out = name === 'extracted' ? ['--out', at(name)] : [];
      const { stderr } = await runSilently([SENT, KEY], 1, ...words, ...into, ...out);
      expect(stderr).toMatch(/(status \d+: an answer|the answer (is|has)) /);
      expect(service.received.length, name).toBeGreaterThan(0);
      expect(JSON.stringify(service.received), name).toContain(SENT);
      expect(service.received[0]?.authorization, name).toContain(KEY);
    }
    expect(listLeaks(root, KEY)).toEqual([]);
  });
});

test('neither files nor lines of a kernel that serves have a key, but for the file of keys', async () => {
  const kernel = await startKernel();
  try {
    const [{ secret, privateKey }] = kernel.keys.keys as [(typeof kernel.keys.keys)[0]];
    const bodies = ['{', '{}', JSON.stringify({ policyRef: kernel.policyRef, scope: {} })];
    const answers = await Promise.all(
      bodies.map(async (body) => {
        const headers = { 'content-type': 'application/json' };
        return (await fetch(`${kernel.baseUrl}/slice`, { method: 'POST', headers, body })).text();
      }),
    );
    const { stdout } = await runRagpp('kernel', 'inspect', kernel.keyFile);
    kernel.kill('SIGTERM');
    const ended = await kernel.ended;
    const line = privateKey.split('\n')[1] as string;
    for (const key of [secret, line]) {
      expect(listLeaks(kernel.folder, key)).toEqual(['keys.json']);
      expect([...answers, stdout, ended.stdout, ended.stderr].join('\n')).not.toContain(key);
    }
  } finally {
    await kernel.dispose();
  }
});

test('an address of a mail is in no file of a run, and in no line', async () => {
  const address = 'ana.canary77@mail.example';
  const mail = (n: number, of: number | null) =>
    `From ${address} Thu Aug 22 09:0${n}:00 2002
From: Ana Canary <${address}>
Date: Thu, 22 Aug 2002 09:0${n}:00 +0000
Message-ID: <${n}.${address}>
${of === null ? '' : `In-Reply-To: <${of}.${address}>\n`}Subject: ${of === null ? '' : 'Re: '}a kernel of thread ${n - (of === null ? 0 : 1)}

Write to ${address} about the kernel patch number ${n}, since the driver module of boot ${n} panics after a long while.

`;
  const mails = Array.from({ length: 4 }, (_, i) => mail(2 * i, null) + mail(2 * i + 1, 2 * i)).join('');
  writeFileSync(at('list.mbox'), mails);
  const dataset = { name: 'mail-threads', path: at('list.mbox') };
  writeJson(at('mail.yaml'), {
    ...{ name: 'mail', seed: 3, backend: 'cpu', dataset },
    embedding: { encoder: 'lsa', dimension: 2, maxDocumentShare: 1 },
    evaluation: { split: 'all', baseline: 'words', samples: 100, metrics: ['mrr@10'] },
    arms: { words: [{ search: { bm25: { k: 5 } } }] },
  });
  const folders = ['--cache', at('mail-cache'), '--results', at('mail-results')];
  await runSilently([address, 'canary77'], 0, 'run', at('mail.yaml'), ...folders);
  const data = ['--set', `path=${at('list.mbox')}`, '--cache', at('mail-cache')];
  await runSilently([address, 'canary77'], 0, 'data', 'mail-threads', ...data);
  expect(listLeaks(at('mail-results'), 'report').length).toBeGreaterThan(0);
  for (const text of ['canary77', 'Ana Canary'])
    expect([listLeaks(at('mail-results'), text), listLeaks(at('mail-cache'), text)]).toEqual([[], []]);
});
