import { afterEach, expect, test } from 'vitest';
import { UnavailableError, ValidationError } from '../../../core/errors/errors.ts';
import { type Answer, EmbeddingService } from '../../../core/service/embedding-service.harness.ts';
import type { ConceptLine } from './concept-file.ts';
import { extractConcepts } from './extract-concepts.ts';
import { extractionOptions } from './extraction-requests.ts';
import { answerAsAsked, describeStatement, readAsked, say } from './extraction-service.harness.ts';

const KEY_VARIABLE = 'RAGPP_TEST_EXTRACTION_KEY';
const service = EmbeddingService.useInTests();
afterEach(() => {
  delete process.env[KEY_VARIABLE];
});

const parse = (more: object = {}) =>
  extractionOptions.parse({ baseUrl: service.baseUrl, model: 'm-7b', pauseSeconds: 0, maxAttempts: 3, ...more });

const TURNS = [
  describeStatement(0, 'Ann B. Davis | works for | Initech; the Lab | is in | Rome'),
  describeStatement(1, 'Nothing to see here.', { attributes: { title: 'The Lab (room)' } }),
  describeStatement(2, 'Bob | is employed by | Initech; Ann Bradford Davis | knows | Bob'),
  describeStatement(3, 'Bob | visits | 1994; Bob | lives in | Rome'),
  describeStatement(4, 'Ann Davis | knows | Bob; Bob | lives in | Rome'),
];
const LINES: ConceptLine[] = [
  {
    id: 't0',
    concepts: ['ann b. davis', 'initech', 'lab', 'rome'],
    triples: [
      { subject: 'ann b. davis', relation: 'works for', object: 'initech' },
      { subject: 'lab', relation: 'is in', object: 'rome' },
    ],
    relations: [
      { relation: 'works for', definition: 'The subject employ the object.', same: null },
      { relation: 'is in', definition: 'The subject is in the object.', same: null },
    ],
  },
  { id: 't1', concepts: ['lab (room)', 'lab'], triples: [] },
  {
    id: 't2',
    concepts: ['bob', 'initech', 'ann b. davis'],
    triples: [
      { subject: 'bob', relation: 'works for', object: 'initech' },
      { subject: 'ann b. davis', relation: 'knows', object: 'bob' },
    ],
    relations: [
      { relation: 'is employed by', definition: 'The subject employ the object.', same: 'works for' },
      { relation: 'knows', definition: 'The subject knows the object.', same: null },
    ],
  },
  {
    id: 't3',
    concepts: ['bob', 'rome'],
    triples: [{ subject: 'bob', relation: 'lives in', object: 'rome' }],
    relations: [{ relation: 'lives in', definition: 'The subject lives in the object.', same: null }],
  },
  {
    id: 't4',
    concepts: ['ann b. davis', 'bob', 'rome'],
    triples: [
      { subject: 'ann b. davis', relation: 'knows', object: 'bob' },
      { subject: 'bob', relation: 'lives in', object: 'rome' },
    ],
  },
];

test('a turn has its title and the ends of its triples as concepts, each in its earliest spelling, and relations of one meaning have one name', async () => {
  service.answer = answerAsAsked;
  const parts: ConceptLine[][] = [];
  const onExtracted = (lines: readonly ConceptLine[]) => parts.push([...lines]);
  const { lines, ...others } = await extractConcepts(TURNS, parse({ batchSize: 2 }), { onExtracted });
  expect(lines).toEqual(LINES);
  expect(parts).toEqual([LINES.slice(0, 2), LINES.slice(2, 4), LINES.slice(4)]);
  expect(others).toEqual({ withheld: 0, leftOut: 1, use: '5 requests, 35 tokens' });
  expect(service.received.map(({ path }) => path)).toEqual(new Array(5).fill('/v1/chat/completions'));
  expect(service.received[0]?.body).toMatchObject({ model: 'm-7b', temperature: 0 });
  const asked = service.received.map(readAsked);
  expect(asked[0]?.turns).toEqual([
    { number: 1, title: '', text: TURNS[0]?.text },
    { number: 2, title: 'The Lab (room)', text: TURNS[1]?.text },
  ]);
  expect(asked[3]).toEqual({
    known: ['works for', 'is in'].map((relation, i) => ({
      ...{ number: i + 1, relation, definition: LINES[0]?.relations?.[i]?.definition },
    })),
    new: [
      { number: 3, relation: 'is employed by', subject: 'bob', object: 'initech' },
      { number: 4, relation: 'knows', subject: 'ann bradford davis', object: 'bob' },
      { number: 5, relation: 'lives in', subject: 'bob', object: 'rome' },
    ],
  });
});

test('later turns change no line, and an interrupted extraction goes on as if it had not been', async () => {
  service.answer = answerAsAsked;
  const options = parse({ batchSize: 2 });
  for (const count of [2, 4]) {
    expect((await extractConcepts(TURNS.slice(0, count), options)).lines).toEqual(LINES.slice(0, count));
    expect((await extractConcepts(TURNS, options, { limit: count })).lines).toEqual(LINES.slice(0, count));
  }
  for (const count of [0, 1, 3, 4]) {
    service.received.length = 0;
    const begun = LINES.slice(0, count);
    expect((await extractConcepts(TURNS, options, { begun })).lines).toEqual(LINES);
    const sent = service.received.flatMap((request) => readAsked(request).turns ?? []);
    expect(sent.map(({ text }) => text)).toEqual(TURNS.slice(count).map(({ text }) => text));
  }
  service.received.length = 0;
  await extractConcepts(TURNS, options, { begun: LINES });
  expect(service.received).toEqual([]);
});

test('begun lines of unknown turns, in another order or with a gap are refused before the first request', async () => {
  const [first, second, third] = LINES as [ConceptLine, ConceptLine, ConceptLine];
  const refuse = (begun: readonly ConceptLine[]) => expect(extractConcepts(TURNS, parse(), { begun })).rejects;
  await refuse([{ ...first, id: 'x' }]).toThrow(/^turn of the begun file is unknown or not in time order: x; /);
  await refuse([second, first]).toThrow(/not in time order: t0; name another file$/);
  await refuse([first, third]).toThrow(ValidationError);
  await refuse([first, third]).toThrow(/^turn has no line in the begun file, which has later turns: t1; /);
  expect(service.received).toEqual([]);
});

test('sensitive turns and turns of equal texts are not sent, also those that an earlier call sent', async () => {
  service.answer = answerAsAsked;
  const sensitive = { attributes: { sensitive: true } };
  const turns = [TURNS[0]!, describeStatement(1, 'the pin | is | 4711', sensitive), TURNS[2]!];
  const copied = [...turns, describeStatement(3, 'the pin | is | 4711')];
  const { lines, withheld } = await extractConcepts(copied, parse());
  expect(lines.map(({ id }) => id)).toEqual(['t0', 't2']);
  expect(withheld).toBe(2);
  expect(JSON.stringify(service.received)).not.toContain('4711');
  service.received.length = 0;
  const marked = [{ ...turns[0]!, ...sensitive }, ...turns.slice(1)];
  await extractConcepts(marked, parse(), { begun: lines.slice(0, 1) });
  expect(service.received.map((request) => readAsked(request).known)).toEqual([undefined, []]);
});

const triples = (count: number) => ({
  turns: Array.from({ length: count }, (_, i) => ({ number: i + 1, triples: [['a b', 'is', 'c d']] })),
});
test.each<[string, Answer]>([
  ['status 429', { status: 429, body: '', headers: { 'retry-after': '0' } }],
  ['a broken connection', null],
  ['too few turns', say(JSON.stringify(triples(4)))],
  ['too many turns', say(JSON.stringify(triples(6)))],
  ['turns in another order', say(JSON.stringify({ turns: triples(5).turns.reverse() }))],
  ['a triple of two parts', say('{"turns": [{"number": 1, "triples": [["a", "b"]]}]}')],
  ['definitions in place of triples', say('{"relations": []}')],
  ['no JSON', say('There is nothing to extract.')],
  ['no message', { status: 200, body: { choices: [] } }],
])('%s is tried again, for triples and for definitions', async (_, fault) => {
  service.answer = (request, count) => (count % 2 === 1 ? fault : answerAsAsked(request));
  expect((await extractConcepts(TURNS, parse())).lines.map(({ id }) => id)).toEqual(LINES.map(({ id }) => id));
  expect(service.received).toHaveLength(4);
});

test.each([
  ['a number that is not lower', [{ number: 1, definition: 'x', same: 1 }]],
  ['an empty definition', [{ number: 1, definition: ' ', same: null }]],
  ['no relation', []],
])('definitions with %s end in an error without the key, and lines before are kept', async (_, given) => {
  process.env[KEY_VARIABLE] = 'sk-of-the-model';
  const relations = given.map((entry) => ({ ...entry, note: 'sk-of-the-model' }));
  service.answer = (request) =>
    readAsked(request).new === undefined
      ? answerAsAsked(request)
      : say(JSON.stringify({ relations, of: 'sk-of-the-model' }));
  const kept: ConceptLine[] = [];
  const turns = [TURNS[1]!, TURNS[4]!].map((turn, i) => ({ ...turn, timestamp: i }));
  const options = parse({ apiKeyVariable: KEY_VARIABLE, batchSize: 1 });
  const extraction = extractConcepts(turns, options, { onExtracted: (lines) => kept.push(...lines) });
  const error = await extraction.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UnavailableError);
  expect((error as Error).message).toMatch(
    /^extraction by m-7b is not available: .*the answer has not the definitions of/,
  );
  expect((error as Error).message).not.toContain('sk-of-the-model');
  expect(service.received[0]?.authorization).toBe('Bearer sk-of-the-model');
  expect(kept.map(({ id }) => id)).toEqual(['t1']);
});

test('more new relations than fit a request are defined in several, each with the relations before it', async () => {
  service.answer = answerAsAsked;
  const name = (i: number) => `${'abcdefghij'[i % 10]}${'klmnopqrst'[Math.floor(i / 10)]} meets`;
  const text = Array.from({ length: 30 }, (_, i) => `Ann | ${name(i)} | Bob`).join('; ');
  const { lines } = await extractConcepts([describeStatement(0, text)], parse());
  expect(lines[0]?.relations).toHaveLength(30);
  expect(service.received.slice(1).map((request) => readAsked(request).new?.length)).toEqual([24, 6]);
  expect(readAsked(service.received[2]!).known).toHaveLength(24);
});

test('an aborted signal ends the extraction with its reason', async () => {
  service.answer = answerAsAsked;
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(extractConcepts(TURNS, parse(), { signal })).rejects.toThrow('stopped');
});
