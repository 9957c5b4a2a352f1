import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError, UnavailableError } from '../../core/errors/errors.ts';
import {
  type Answer,
  answerEmbeddings,
  computeServedVector,
  EmbeddingService,
} from '../../core/service/embedding-service.harness.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { createCachedEncoder } from './embedding-cache.ts';
import type { OpenAiCompatibleOptions } from './encoder-options.ts';
import { openEndpoint } from './openai-compatible.ts';
import { createEncoderSource, encoderOptions } from './registry.ts';

const KEY_VARIABLE = 'RAGPP_TEST_API_KEY';
const KEY = 'sk-of-the-user-0123456789';
const DIMENSION = 5;
const root = mkdtempSync(join(tmpdir(), 'openai-compatible-'));
let service: EmbeddingService;
beforeAll(async () => {
  service = await EmbeddingService.start();
});
afterEach(() => {
  service.reset();
  delete process.env[KEY_VARIABLE];
});
afterAll(async () => {
  await service.stop();
  rmSync(root, { recursive: true });
});

const parse = (more: object = {}) =>
  encoderOptions.parse({
    encoder: 'openai-compatible',
    baseUrl: service.baseUrl,
    model: 'small',
    dimension: DIMENSION,
    pauseSeconds: 0,
    ...more,
  }) as OpenAiCompatibleOptions;

function scaleServedVector(text: string): number[] {
  const vector = computeServedVector(text, DIMENSION);
  const length = Math.hypot(...vector);
  return vector.map((value) => Math.fround(value / length));
}

function expectVectors(rows: Float32Array, texts: readonly string[]): void {
  expect(rows).toHaveLength(texts.length * DIMENSION);
  for (const [i, text] of texts.entries())
    for (const [d, value] of scaleServedVector(text).entries())
      expect(viewRow(rows, DIMENSION, i)[d]).toBeCloseTo(value, 6);
}

const TEXTS = Array.from({ length: 17 }, (_, i) => `text ${i}`);

describe('a service', () => {
  test('is asked in batches, and its vectors are in the order of the texts, of length 1', async () => {
    const encoder = openEndpoint(parse({ batchSize: 7, baseUrl: `${service.baseUrl}/` }));
    expectVectors(await encoder.encode(TEXTS), TEXTS);
    expect(service.received.map(({ body: { input } }) => input.length)).toEqual([7, 7, 3]);
    expect(service.received.map(({ path }) => path)).toEqual(Array(3).fill('/v1/embeddings'));
    expect(service.received[0]?.body).toEqual({ model: 'small', input: TEXTS.slice(0, 7), encoding_format: 'float' });
  });

  test('is asked for a dimension if the options say so', async () => {
    await openEndpoint(parse({ sendDimension: true })).encode(['a']);
    expect(service.received[0]?.body.dimensions).toBe(DIMENSION);
  });

  test('is not asked for empty texts, which have zero vectors', async () => {
    const rows = await openEndpoint(parse({ queryPrompt: 'q: ' })).encode(['', 'soup', ' \n']);
    expect([...rows.subarray(0, 5), ...rows.subarray(10)]).toEqual(Array(10).fill(0));
    expectVectors(rows.subarray(5, 10), ['soup']);
    await openEndpoint(parse()).encode(['']);
    expect(service.received.map(({ body: { input } }) => input)).toEqual([['soup']]);
  });

  test('gets prompts before queries and before turns, which the cache keeps apart', async () => {
    const options = parse({ queryPrompt: 'query: ', passagePrompt: 'passage: ' });
    const source = createEncoderSource(options, { fitTexts: [], seed: 1 });
    const owners = [
      { kind: 'query', id: 'q' },
      { kind: 'turn', id: 't' },
    ] as const;
    for (let call = 0; call < 2; call++) {
      const cached = await createCachedEncoder(source, root);
      expectVectors(await cached.encode(['soup', 'soup'], undefined, { owners }), ['query: soup', 'passage: soup']);
      cached.dispose();
    }
    expect(service.received).toHaveLength(1);
  });
});

describe('the ledger', () => {
  test('counts requests, retries, tokens and their price, and is printed with the embeddings', async () => {
    service.answer = (request, count) => (count === 2 ? { status: 503, body: '' } : answerEmbeddings(request));
    const lines: (string | undefined)[] = [];
    const progress: StartProgress = () => ({ update() {}, finish: (remark) => void lines.push(remark) });
    const options = parse({ batchSize: 10, pricePerMillionTokens: 0.13 });
    const source = createEncoderSource(options, { fitTexts: [], seed: 1 });
    const cached = await createCachedEncoder(source, join(root, 'ledger'));
    await cached.encode(TEXTS, progress);
    // 17 texts of two words
    expect(lines).toEqual([
      '17 texts embedded; 2 requests, 1 retries, 34 tokens, cost 0.00000442 at 0.13 per million tokens',
    ]);
  });

  test('reports what it cannot count', async () => {
    service.answer = (request) => {
      const answer = answerEmbeddings(request) as { status: number; body: { usage?: object } };
      delete answer.body.usage;
      return answer;
    };
    const encoder = openEndpoint(parse());
    await encoder.encode(['a']);
    expect(encoder.readUse()).toEqual({
      model: 'small',
      texts: 1,
      requests: 1,
      retries: 0,
      tokens: 0,
      uncounted: 1,
      cost: null,
    });
    expect(encoder.describeUse()).toBe('1 requests, 0 tokens, 1 requests without a count of tokens');
  });
});

describe('a passing fault', () => {
  test.each<[string, Answer]>([
    ['status 429', { status: 429, body: { error: 'slow down' }, headers: { 'retry-after': '0.01' } }],
    ['status 500', { status: 500, body: '' }],
    ['status 408', { status: 408, body: '' }],
    ['a broken connection', null],
    ['no answer in time', 'silence'],
  ])('%s is tried again', async (_, fault) => {
    service.answer = (request, count) => (count <= 2 ? fault : answerEmbeddings(request));
    const encoder = openEndpoint(parse(fault === 'silence' ? { timeoutSeconds: 0.1 } : {}));
    expectVectors(await encoder.encode(['soup']), ['soup']);
    expect(encoder.readUse().retries).toBe(2);
  });

  test.each(['date', 'number'])('waits until the time that the service gives as a %s', async (form) => {
    const date = 'Tue, 07 Jul 2026 07:07:07 GMT';
    const retryAfter = form === 'date' ? 'Tue, 07 Jul 2026 07:08:07 GMT' : '60';
    const controller = new AbortController();
    service.answer = (request, count) =>
      count === 1 ? { status: 429, body: '', headers: { date, 'retry-after': retryAfter } } : answerEmbeddings(request);
    setTimeout(() => controller.abort(new Error('still waiting')), 100);
    const { signal } = controller;
    await expect(openEndpoint(parse()).encode(['a'], undefined, { signal })).rejects.toThrow('still waiting');
    expect(service.received).toHaveLength(1);
  });

  test('is an error after the last attempt, which tells what was used', async () => {
    service.answer = (request, count) =>
      count === 1 ? answerEmbeddings(request) : { status: 500, body: '{"error":\n "down"}' };
    const encoder = openEndpoint(parse({ maxAttempts: 3, batchSize: 1 }));
    await expect(encoder.encode(['a', 'b'])).rejects.toThrow(
      /^encoder openai-compatible is not available: http:\S+\/v1\/embeddings: status 500: an answer of 18 characters, after 3 attempts \(so far 1 requests, 2 retries, 1 tokens\); try again later$/,
    );
    expect(service.received).toHaveLength(4);
  });

  test('of a service that is not there names the cause', async () => {
    const gone = await EmbeddingService.start();
    const { baseUrl } = gone;
    await gone.stop();
    await expect(openEndpoint(parse({ baseUrl, maxAttempts: 2 })).encode(['a'])).rejects.toThrow(
      /: connect ECONNREFUSED \S+, after 2 attempts/,
    );
  });

  test('a signal ends the pause before the next attempt', async () => {
    const controller = new AbortController();
    service.answer = () => {
      setTimeout(() => controller.abort(new Error('enough')), 5);
      return { status: 429, body: '', headers: { 'retry-after': '50' } };
    };
    const { signal } = controller;
    await expect(openEndpoint(parse()).encode(['a'], undefined, { signal })).rejects.toThrow('enough');
    expect(service.received).toHaveLength(1);
  });

  test('a signal ends a request', async () => {
    const controller = new AbortController();
    service.answer = () => {
      controller.abort(new Error('enough'));
      return 'silence';
    };
    const { signal } = controller;
    await expect(openEndpoint(parse()).encode(['a'], undefined, { signal })).rejects.toThrow('enough');
  });
});

describe('a lasting fault', () => {
  const vector = (index: number, length = DIMENSION) => ({ index, embedding: Array(length).fill(1) });

  test.each<[string, Answer, RegExp]>([
    [
      'another status',
      { status: 401, body: { error: 'no key' } },
      /status 401: an answer of 18 characters .*; check baseUrl, model and apiKeyVariable$/,
    ],
    [
      'a status with the name of an error',
      { status: 400, body: { error: { message: 'a: too long', type: 'bad a', code: 'context_length_exceeded' } } },
      /status 400: context_length_exceeded, an answer of 83 characters .*; check/,
    ],
    ['a redirect', { status: 307, body: '', headers: { location: '/elsewhere' } }, /status 307: .*; check baseUrl/],
    [
      'an answer that is not JSON',
      { status: 200, body: '<html>' },
      /the answer is not JSON: an answer of 6 characters .*; check baseUrl$/,
    ],
    [
      'an answer of another form',
      { status: 200, body: { embeddings: [] } },
      /has no embeddings: data: expected array /,
    ],
    [
      'a number that is none',
      { status: 200, body: { data: [{ index: 0, embedding: [null, 1] }] } },
      /data\[0\]\.embedding\[0\]: expected number /,
    ],
    [
      'a number beyond float32',
      { status: 200, body: { data: [vector(0), { index: 1, embedding: [0, 0, 1e39, 0, 0] }] } },
      /a vector has a number beyond float32: 1e\+39 .*; use another model$/,
    ],
    ['too few vectors', { status: 200, body: { data: [vector(0)] } }, /the answer has 1 vectors for 1 of 2 texts/],
    [
      'an index that occurs twice',
      { status: 200, body: { data: [vector(1), vector(1)] } },
      /2 vectors for 1 of 2 texts/,
    ],
    [
      'an index beyond the texts',
      { status: 200, body: { data: [vector(0), vector(2)] } },
      /2 vectors for 1 of 2 texts/,
    ],
  ])('%s is an error', async (_, fault, message) => {
    service.answer = () => fault;
    const error = await openEndpoint(parse({ maxAttempts: 2 }))
      .encode(['a', 'b'])
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    expect((error as Error).message).toMatch(message);
    expect(service.received.length).toBeLessThanOrEqual(2);
  });

  test('an answer without end is given up at its limit, and not asked for again', async () => {
    service.answer = () => 'endless';
    await expect(openEndpoint(parse()).encode(['a'])).rejects.toThrow(
      /the answer has more than 268,435,456 bytes .*; check baseUrl, or lower batchSize$/,
    );
    expect(service.received).toHaveLength(1);
  });

  test('another dimension is an error that says what to set', async () => {
    service.answer = (request) => answerEmbeddings(request, 7);
    await expect(openEndpoint(parse()).encode(['a'])).rejects.toThrow(
      new DimensionMismatchError('vectors of small', 5, 7, 'set dimension: 7'),
    );
  });
});

describe('the key', () => {
  test('comes from the variable that the options name, and is sent', async () => {
    process.env[KEY_VARIABLE] = KEY;
    await openEndpoint(parse({ apiKeyVariable: KEY_VARIABLE })).encode(['a']);
    await openEndpoint(parse()).encode(['a']);
    expect(service.received.map(({ authorization }) => authorization)).toEqual([`Bearer ${KEY}`, undefined]);
  });

  test('is in no message, no line and no identity, even if the service repeats it', async () => {
    process.env[KEY_VARIABLE] = KEY;
    const options = parse({ apiKeyVariable: KEY_VARIABLE, maxAttempts: 1 });
    const encoder = openEndpoint(options);
    const printed: unknown[] = [encoder.identity, encoder, createEncoderSource(options, { fitTexts: [], seed: 1 })];
    for (const status of [401, 429, 200]) {
      for (const padding of [0, 190]) {
        service.answer = () => ({ status, body: `${'x'.repeat(padding)}wrong key ${KEY}` });
        const error = (await encoder.encode(['a']).catch((reason: unknown) => reason)) as UnavailableError;
        expect(error.message).toContain('an answer of');
        printed.push(error.message, error.stack, error.facts);
      }
    }
    for (const one of printed) expect(JSON.stringify(one)).not.toContain(KEY.slice(0, 8));
  });

  test('may end in a line break, which is not part of it', async () => {
    process.env[KEY_VARIABLE] = `${KEY}\r\n`;
    service.answer = () => ({ status: 401, body: `wrong key ${KEY}` });
    const error = await openEndpoint(parse({ apiKeyVariable: KEY_VARIABLE }))
      .encode(['a'])
      .catch((reason) => reason);
    expect((error as Error).message).toContain('status 401: an answer of 35 characters');
    expect(service.received[0]?.authorization).toBe(`Bearer ${KEY}`);
  });

  test.each(['sk-of\nthe-user', 'sk-of-the-user\u2026', 'sk-of\u0001the-user'])(
    'that no header can hold is an error without it: %j',
    (key) => {
      process.env[KEY_VARIABLE] = key;
      const open = () => openEndpoint(parse({ apiKeyVariable: KEY_VARIABLE }));
      expect(open).toThrow(
        /^the environment variable RAGPP_TEST_API_KEY has a line break or .*; export the key again$/,
      );
      expect(open).not.toThrow(/sk-of/);
    },
  );

  test('that is not set is an error', () => {
    expect(() => openEndpoint(parse({ apiKeyVariable: KEY_VARIABLE }))).toThrow(
      /the environment variable RAGPP_TEST_API_KEY is not set; export the key, or set apiKeyVariable: null$/,
    );
  });
});

test('the identity has no part that does not affect a vector', () => {
  const identify = (more: object) => createEncoderSource(parse(more), { fitTexts: [], seed: 1 }).identity;
  const before = identify({});
  const same = { batchSize: 3, maxAttempts: 1, timeoutSeconds: 7, pricePerMillionTokens: 1, pauseSeconds: 3 };
  expect(identify({ ...same, baseUrl: `${service.baseUrl}/` })).toEqual(before);
  for (const other of [{ model: 'large' }, { dimension: 3 }, { queryPrompt: 'q' }, { sendDimension: true }])
    expect(identify(other)).not.toEqual(before);
});

test.each([
  'ftp://x/v1',
  'x/v1',
  'http://name:password@x/v1',
  'http://x/v1?api-key=secret',
  'http://x/v1?',
  'http://x/v1#a',
])('the address %s is refused', (baseUrl) => {
  expect(() => parse({ baseUrl })).toThrow(/an address of http or https without a password, a query or a hash/);
});

test('a disposed one is an error', async () => {
  const encoder = openEndpoint(parse());
  encoder.dispose();
  await expect(encoder.encode(['a'])).rejects.toThrow(/^encoder was disposed: openai-compatible; load a new encoder$/);
});
