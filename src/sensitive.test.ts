import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDisplay } from './core/display/display.harness.ts';
import { SensitiveTextError } from './core/errors/errors.ts';
import { type Answer, answerEmbeddings, EmbeddingService } from './core/service/embedding-service.harness.ts';
import { useBackend } from './core/tensors/backend.ts';
import type { StartProgress } from './core/terminal/progress.ts';
import { createCachedEncoder } from './index/encoders/embedding-cache.ts';
import { createEncoderSource } from './index/encoders/registry.ts';
import { extractConcepts } from './index/graph/extraction/extract-concepts.ts';
import { extractionOptions } from './index/graph/extraction/extraction-requests.ts';
import { answerAsAsked, describeStatement } from './index/graph/extraction/extraction-service.harness.ts';
import { endpointJudgeOptions, judgePairs } from './lab/judging/endpoint-judge.ts';
import { openCurator } from './memory/curation/curator.ts';
import { createEndpointDecider } from './memory/curation/endpoint-decider.ts';
import { openMemory } from './memory/engine/open-memory.ts';
import type { TextOwner } from './model/encoder.ts';
import { DISPLAYS, findSecretResults, type SecretResults } from './sensitive.cases.ts';
import { SECRET } from './sensitive.fixture.ts';

/** Files that reach the network, and why no sensitive text goes through each. A new one needs a line here, and a test below that its texts pass the gate. */
const NETWORK = {
  'core/service/http-service.ts': 'receives what services read and answer, which are listed below',
  'core/service/http-connection.ts': 'sends what its callers give, which are listed below',
  'core/service/download.ts': 'sends the address of a file, such as a model, and no text',
  'cli/actions/serve.ts': 'opens the service of a memory, which is listed below',
  'cli/serve.ts': 'names a transport',
  'memory/service/event-stream.ts': 'sends ids of changes, and sentences about laws of conservation',
  'memory/service/mcp.ts': 'answers tools of a memory, whose source leaves out sensitive records',
  'index/vectors/postgres/postgres-database.ts':
    'the database that the user names holds records, see docs/sensitive.md',
};
/** Services, and why no sensitive text leaves this machine by the answers of each. */
const SERVICES = {
  'kernel/service/kernel-service.ts': 'reads ids of turns, and answers with ids and public keys, and no text',
  'memory/service/memory-service.ts': 'shows no text of a sensitive record, see memory/service/routes.ts',
};
/** Files that send over the connections of core/service, and why no sensitive text goes through each. */
const SENDERS = {
  'core/service/endpoint-request.ts': 'takes texts of the gate alone, as its type states',
  'core/service/http-connection.ts': 'holds the connections',
  'kernel/client/http-authority.ts': 'sends ids of turns, conversations, authors and channels to a kernel, and no text',
  'memory/client/connect-memory.ts': 'refuses to send sensitive records and questions to another machine',
};
/** Files that send texts through the gate. */
const ADAPTERS = [
  'core/service/chat-request.ts',
  'index/encoders/openai-compatible.ts',
  'core/service/endpoint-request.ts',
  'lab/judging/endpoint-judge.ts',
  'index/graph/extraction/extraction-requests.ts',
  'memory/curation/endpoint-decider.ts',
];

/** Files whose errors quote the beginning of a foreign text, and why none of it is sensitive. */
const QUOTERS = {
  'kernel/client/http-authority.ts': 'what a kernel says, which holds no text',
  'core/service/http-refusal.ts': 'the faults of a request for a slice, which has ids alone',
  'index/vectors/vector-doors.ts': 'an id',
  'core/validation/validation.ts': 'a value of options; `model/turns/attributes.ts` hides those of rows',
  'data/exports/export-files.ts': 'a file that is no export: the format has no attributes',
  'data/jsonl/jsonl-rows.ts': 'a line of qrels, and what was typed as a vector',
  'data/oasst/oasst-schema.ts': 'public data without attributes',
  'data/documents/trec-collection.ts': 'a document of a test collection, without attributes',
};

const source = dirname(fileURLToPath(import.meta.url));
const code = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((file) => relative('.', file))
  .filter((file) => file.endsWith('.ts') && !/\.(test|harness|fixture|cases|oracle)\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(source, file), 'utf8') }));
const listFiles = (pattern: RegExp) => code.flatMap(({ file, text }) => (pattern.test(text) ? [file] : [])).sort();

test('no other file reaches the network', () => {
  const network =
    /(?<![\w.#])fetch\(|globalThis\.fetch|['"](?:node:)?(?:https?|http2|net|tls|dgram|undici|axios|ws|openai|pg|fastify)['"]|new (?:WebSocket|EventSource|XMLHttpRequest)\b/;
  expect(listFiles(network)).toEqual(Object.keys(NETWORK).sort());
});

test('no other file makes a service', () => {
  const made = listFiles(/\bcreateHttpService\b/).filter((file) => file !== 'core/service/http-service.ts');
  expect(made).toEqual(Object.keys(SERVICES).sort());
});

test('no other file calls the client of services, and none makes a sendable text by a cast', () => {
  expect(listFiles(/\bHttpConnection\b/)).toEqual(Object.keys(SENDERS).sort());
  expect(listFiles(/\brequest(?:Endpoint|Chat)\b/)).toEqual([...ADAPTERS].sort());
  expect(listFiles(/\bas (?:unknown as )?(?:readonly )?(?:SendableText|Sendable|Cleared)\b(?!\[|, )/)).toEqual([
    'core/service/sendable-text.ts',
    'index/encoders/openai-compatible.ts', // an element of a list of such texts
  ]);
});

test('no other file quotes the beginning of a foreign text', () => {
  const beginning = /\.slice\(0, ?(?:[4-9]\d|\d{3,}|QUOTED|LONGEST_MESSAGE|EXCERPT)\)/;
  expect(listFiles(beginning).filter((file) => !file.startsWith('lab/report/client/'))).toEqual(
    Object.keys(QUOTERS).sort(),
  );
});

test('no other file makes a showable text by a cast', () => {
  expect(listFiles(/\bas (?:unknown as )?(?:readonly )?ShowableText\b(?!\[|, )/)).toEqual(['core/display/display.ts']);
});

const root = mkdtempSync(join(tmpdir(), 'sensitive-'));
const service = EmbeddingService.useInTests();
afterAll(() => rmSync(root, { recursive: true }));

/** Everything that leaves the process: requests, stages of progress with their remarks, and the error. */
class Outlet {
  readonly lines: string[] = [];
  readonly progress: StartProgress = (stage) => {
    this.lines.push(stage);
    return { update() {}, finish: (remark = '') => void this.lines.push(remark) };
  };

  async run<T>(work: (progress: StartProgress) => Promise<T>): Promise<T | Error> {
    try {
      return await work(this.progress);
    } catch (error) {
      for (let at: unknown = error; at instanceof Error; at = at.cause)
        this.lines.push(at.message, at.stack ?? '', JSON.stringify(at));
      return error as Error;
    }
  }

  readAll(): string {
    return [...this.lines, ...service.received.map((request) => JSON.stringify(request))].join('\n');
  }
}

describe('a notebook', () => {
  let results: SecretResults;
  beforeAll(async () => {
    await useBackend('cpu');
    results = await findSecretResults(join(root, 'displays'));
  });

  test('has a case for every file that registers a display', () => {
    const registers = /\battachDisplay\(|\[DISPLAY\]\(\)/;
    const others = ['core/display/display.ts', 'lab/run/run.ts']; // what a display is, and a copy of one
    expect(listFiles(registers).filter((file) => !others.includes(file))).toEqual(Object.keys(DISPLAYS).sort());
  });

  test.each(Object.entries(DISPLAYS).filter(([, show]) => typeof show === 'function'))(
    'is shown no sensitive text by %s',
    async (_, show) => {
      const shown = JSON.stringify(await readDisplay(await (show as (given: SecretResults) => unknown)(results)));
      expect(shown).not.toContain(SECRET);
      expect(shown).toContain('text/html');
    },
  );

  test('shows that a text is missing, and the text of a turn that is not sensitive', async () => {
    const { 'text/plain': text } = await readDisplay(results.data.corpus.getConversation('c0'));
    expect(text).toMatch(/: \(sensitive: not shown\)\n/);
    expect(text).toContain(results.data.corpus.getTurn('t0-1').text.slice(0, 20));
  });

  test('is given no sensitive text by tables, figures, rows and the folder of a run', () => {
    const { finished, folder } = results;
    const given = [
      ...(['text', 'markdown', 'latex', 'csv'] as const).map((format) => finished.table(format)),
      ...(['differences', 'means', 'queries'] as const).map((name) => finished.figure(name)),
      ...[finished.rows(), finished.result, finished.compare('fading')],
    ];
    expect(JSON.stringify(given)).not.toContain(SECRET);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(8);
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), 'latin1'), name).not.toContain(SECRET);
  });
});

/** Texts with marks; some are sensitive, and hold the secret within words. */
const texts = fc.array(
  fc.record({
    words: fc.stringMatching(/^[a-f]{1,6}$/),
    sensitive: fc.boolean(),
    kind: fc.constantFrom('turn' as const, 'query' as const),
  }),
  { minLength: 1, maxLength: 12 },
);
/** Every service echoes what it got, with every kind of failure. */
const answers = fc.constantFrom<(request: Parameters<EmbeddingService['answer']>[0]) => Answer>(
  (request) => (request.body.input === undefined ? { status: 500, body: '' } : answerEmbeddings(request)),
  (request) => ({ status: 400, body: { error: JSON.stringify(request.body) } }),
  (request) => ({ status: 503, body: JSON.stringify(request.body) }),
  (request) => ({ status: 200, body: JSON.stringify(request.body) }),
);

const encoderOptions = () => ({
  ...{ encoder: 'openai-compatible' as const, baseUrl: service.baseUrl, model: 'm', dimension: 5 },
  ...{ pauseSeconds: 0, maxAttempts: 2, batchSize: 2, queryPrompt: 'query: ' },
});

test('an encoder of a service sends nothing if one text is sensitive, cached or not', async () => {
  let folder = 0;
  await fc.assert(
    fc.asyncProperty(texts, answers, fc.boolean(), async (drawn, answer, cached) => {
      service.reset();
      service.answer = answer;
      const given = drawn.map(({ words, sensitive }) => (sensitive ? `${words} ${SECRET}` : words));
      const owners = drawn.map(({ kind, sensitive }, i): TextOwner => ({ kind, id: `t${i}`, sensitive }));
      const outlet = new Outlet();
      const result = await outlet.run(async (progress) => {
        const from = createEncoderSource(encoderOptions(), { fitTexts: [], seed: 1 });
        const encoder = cached ? await createCachedEncoder(from, join(root, `${folder++}`)) : await from.create();
        try {
          return await encoder.encode(given, progress, { owners });
        } finally {
          encoder.dispose();
        }
      });
      expect(outlet.readAll()).not.toContain(SECRET);
      const refused = drawn.some(({ sensitive }) => sensitive);
      expect(result instanceof SensitiveTextError).toBe(refused);
      expect(service.received.length === 0).toBe(refused);
    }),
    { numRuns: 60, seed: 17 },
  );
});

test('a text is sensitive if one of its owners is, and beyond the first part of a cache nothing was sent', async () => {
  const given = [...Array.from({ length: 600 }, (_, i) => `text ${i}`), SECRET, SECRET];
  const owners = given.map((_, i): TextOwner => ({ kind: 'turn', id: `t${i}`, sensitive: i === 601 }));
  const from = createEncoderSource(encoderOptions(), { fitTexts: [], seed: 1 });
  const encoder = await createCachedEncoder(from, join(root, 'parts'));
  await expect(encoder.encode(given, undefined, { owners })).rejects.toThrow(
    'encoder openai-compatible sends texts off this machine, and 1 of 601 are sensitive',
  );
  expect(service.received).toEqual([]);
  await encoder.encode(given.slice(0, 600), undefined, { owners: owners.slice(0, 600) });
  expect(service.received).toHaveLength(300);
  encoder.dispose();
});

test('a judge behind a service gets no sensitive pair, and the other pairs all the same', async () => {
  await fc.assert(
    fc.asyncProperty(texts, answers, async (drawn, answer) => {
      service.reset();
      service.answer = answer;
      const pairs = drawn.map(({ words, sensitive, kind }, i) => ({
        ...{ queryId: `q${i % 3}`, id: `d${i}`, stratum: null, generator: 'ana', sensitive },
        queryText: sensitive && kind === 'query' ? SECRET : words,
        text: sensitive ? `${words} ${SECRET}` : words,
      }));
      const outlet = new Outlet();
      const options = endpointJudgeOptions.parse({
        ...{ baseUrl: service.baseUrl, model: 'm', pauseSeconds: 0, maxAttempts: 2, batchSize: 2 },
      });
      await outlet.run((progress) => judgePairs(pairs, options, { progress }));
      expect(outlet.readAll()).not.toContain(SECRET);
      expect(service.received.length > 0).toBe(drawn.some(({ sensitive }) => !sensitive));
    }),
    { numRuns: 60, seed: 17 },
  );
});

test('an extraction of concepts sends no sensitive turn and no copy of one, and its lines have none', async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.oneof(answers, fc.constant(answerAsAsked)), async (drawn, answer) => {
      service.reset();
      service.answer = answer;
      const turns = drawn.flatMap(({ words, sensitive, kind }, i) => {
        const text = `${words} | is ${words} of | ${sensitive ? SECRET : 'all'}`;
        const turn = describeStatement(2 * i, text, { attributes: { sensitive, title: sensitive ? SECRET : words } });
        return kind === 'query' ? [turn, describeStatement(2 * i + 1, text)] : [turn];
      });
      const options = extractionOptions.parse({
        ...{ baseUrl: service.baseUrl, model: 'm', pauseSeconds: 0, maxAttempts: 2, batchSize: 2 },
      });
      const outlet = new Outlet();
      const onExtracted = (lines: readonly object[]) => void outlet.lines.push(JSON.stringify(lines));
      await outlet.run((progress) => extractConcepts(turns, options, { progress, onExtracted }));
      expect(outlet.readAll()).not.toContain(SECRET);
      expect(service.received.length > 0).toBe(drawn.some(({ sensitive }) => !sensitive));
    }),
    { numRuns: 60, seed: 17 },
  );
});

test('a curation by a service gets the text of no sensitive record, and its log has none', async () => {
  let folder = 0;
  await fc.assert(
    fc.asyncProperty(texts, answers, async (drawn, answer) => {
      service.reset();
      service.answer = answer;
      const options = { baseUrl: service.baseUrl, model: 'm', pauseSeconds: 0, maxAttempts: 1 };
      const log = join(root, `curation-${folder++}`);
      const memory = await openMemory({ dimension: 2 });
      const { decide } = createEndpointDecider(options);
      const curator = await openCurator(memory, log, {}, { decide, fsync: 'never' });
      const outlet = new Outlet();
      for (const [i, { words, sensitive }] of drawn.entries())
        await outlet.run(() =>
          curator.curate({
            ...{ id: `r${i}`, createdAt: i, embedding: Float32Array.of(1, 0), metadata: { sensitive } },
            context: sensitive ? `${words} ${SECRET}` : words,
          }),
        );
      await curator.close();
      await memory.close();
      const logged = readdirSync(log).map((name) => readFileSync(join(log, name), 'utf8'));
      expect(outlet.readAll() + logged.join('')).not.toContain(SECRET);
      expect(service.received.length > 0).toBe(drawn.filter(({ sensitive }) => !sensitive).length > 1);
    }),
    { numRuns: 40, seed: 17 },
  );
});
