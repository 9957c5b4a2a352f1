import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../core/errors/errors.ts';
import { type AssemblyInput, assemble } from './assemble.ts';
import { makeItem } from './items.fixture.ts';
import { type ContextItem, type ContextSource, readItemText, type SourceRequest } from './source.ts';

const HOUR = 3_600_000;
const now = 30 * 24 * HOUR;

const memories = [
  makeItem('m1', { text: 'Anna planted the cherry tree behind the house', score: 0.9, timestamp: now - 50 * HOUR }),
  makeItem('m2', { text: 'The printer needs a new drum', score: 0.8, session: 's2', source: 'memory:s2' }),
  makeItem('m3', { text: 'Anna has garden: 40 square metres', score: 0.4, memoryType: 'semantic' }),
  makeItem('m4', { text: 'Much happened in the garden in spring', score: 0.3, memoryType: 'summary' }),
  makeItem('m5', { text: 'water at six', trigger: 'the garden is dry', score: 0.2, memoryType: 'procedural' }),
];
const documents = [
  makeItem('d1', {
    text: 'A cherry tree needs much water',
    score: 0.7,
    memoryType: 'document',
    source: 'garden-guide',
  }),
];

function createSource(items: readonly ContextItem[]): { source: ContextSource; requests: SourceRequest[] } {
  const requests: SourceRequest[] = [];
  const source: ContextSource = async (request) => {
    requests.push(request);
    return items;
  };
  return { requests, source };
}

const ask = (options: AssemblyInput = {}, both = true, question = 'Where is the cherry tree of Anna?') => {
  const sources = { memories: createSource(memories), documents: createSource(documents) };
  const made = assemble(
    question,
    options,
    { memories: sources.memories.source, ...(both && { documents: sources.documents.source }) },
    { now },
  );
  return { made, sources };
};
const listIds = (items: readonly { id: string }[]) => items.map(({ id }) => id);

describe('a context', () => {
  test('has documents and memories in one order by the words of the question, summaries first', async () => {
    const { made, sources } = ask();
    const { items, strategy, sources: asked } = await made;
    expect(listIds(items)).toEqual(['m4', 'm1', 'd1', 'm3', 'm2', 'm5']);
    expect([sources.documents.requests[0]?.k, sources.memories.requests[0]?.k]).toEqual([8, 12]);
    expect([strategy, asked.map(({ name, fault }) => [name, fault])]).toEqual([
      'rag',
      [
        ['documents', null],
        ['memories', null],
      ],
    ]);
  });

  test('is a prompt of stable bytes', async () => {
    const { prompt } = await ask().made;
    expect(prompt).toBe(`# Retrieved Context

The following information from your memory may be relevant to the query: "Where is the cherry tree of Anna?"

## Relevant Summaries
- Much happened in the garden in spring (memory:s1)

## Relevant Procedures
- When: the garden is dry
  Then: water at six

## Relevant Facts
- Anna has garden: 40 square metres (memory:s1)

## Relevant Documents
- A cherry tree needs much water (garden-guide)

## Relevant Past Interactions
- Anna planted the cherry tree behind the house (memory:s1, 2 days ago)
- The printer needs a new drum (memory:s2, 1 month ago)

Use this context to inform your response, but be clear about what you know vs. what you're inferring.
`);
    expect((await ask().made).prompt).toBe(prompt);
  });

  test('states when memories are from if the question asks for a time, in the time zone of who asks', async () => {
    const listLines = async (question: string, timeZone?: string | null) => {
      const made = await ask(timeZone === undefined ? {} : { timeZone }, true, question).made;
      return made.prompt.split('\n').filter((line) => /^- (?:Anna|Much|A cherry)/.test(line));
    };
    // 30 days after Thursday, 1 January 1970
    expect(await listLines('When was the cherry tree planted?', 'Europe/Berlin')).toEqual([
      '- Much happened in the garden in spring (memory:s1, Thursday 1970-01-01 01:00 Europe/Berlin)',
      '- Anna has garden: 40 square metres (memory:s1, Thursday 1970-01-01 01:00 Europe/Berlin)',
      '- A cherry tree needs much water (garden-guide)',
      '- Anna planted the cherry tree behind the house (memory:s1, Wednesday 1970-01-28 23:00 Europe/Berlin, 2 days ago)',
    ]);
    const last = (lines: readonly string[]) => lines.at(-1)?.slice(-45);
    expect(last(await listLines('What did Anna plant last week?'))).toContain(
      'Wednesday 1970-01-28 22:00 UTC, 2 days ago)',
    );
    expect(last(await listLines('Where is the cherry tree of Anna?'))).toContain('(memory:s1, 2 days ago)');
    expect(last(await listLines('When was it planted?', null))).toContain('(memory:s1, 2 days ago)');
    await expect(ask({ timeZone: 'Berlin' }).made).rejects.toThrow('unknown time zone: "Berlin"');
  });

  test('states a fact in the words of its predicate', () => {
    const lines = ['has_property', 'related_to', 'prefers', 'ships to'].map((predicate) =>
      readItemText(makeItem('f', { memoryType: 'semantic', fact: { subject: 'Acme', predicate, object: 'X' } })),
    );
    expect(lines).toEqual(['Acme has X', 'Acme is related to X', 'Acme prefers X', 'Acme ships to X']);
  });

  test('without a rerank is in the order of the weighted scores', async () => {
    const { items } = await ask({ rerank: 'none', weights: 'rag-focused' }).made;
    // d1 .49, m1 .27, m2 .24, m3 .12, m4 .09, m5 .06
    expect(listIds(items)).toEqual(['m4', 'd1', 'm1', 'm2', 'm3', 'm5']);
    expect(items.find(({ id }) => id === 'd1')?.score).toBeCloseTo(0.49);
  });

  test('of one session leaves the others out, also if the source ignores it', async () => {
    const { made, sources } = ask({ session: 's2' });
    expect(listIds((await made).items)).toEqual(['d1', 'm2']);
    expect([sources.documents.requests[0]?.session, sources.memories.requests[0]?.session]).toEqual([null, 's2']);
  });

  test('without documents is that of memories alone, and says so', async () => {
    const { made, sources } = ask({}, false);
    const { strategy, items } = await made;
    expect([strategy, items.length, sources.memories.requests[0]?.k]).toEqual(['hybrid', 5, 20]);
  });

  test('of an unknown session has documents alone', async () => {
    expect(listIds((await ask({ session: 's99' }).made).items)).toEqual(['d1']);
  });

  test('at a moment that is no time is refused', async () => {
    const made = assemble('x', {}, { memories: async () => [] }, { now: Number.NaN });
    await expect(made).rejects.toThrow('now is no time: NaN');
  });

  test.each(['o200k_base', 'cl100k_base', 'words'] as const)(
    'counts the special tokens in a memory as text by %s',
    async (tokens) => {
      const text = 'end <|endoftext|> <|im_start|>system <|fim_prefix|>';
      const { items, prompt } = await assemble(
        'end',
        { tokens },
        { memories: async () => [makeItem('m1', { text })] },
        { now },
      );
      expect(prompt).toContain(`- ${text} (memory:s1`);
      // As special tokens all of them would be three.
      expect(items[0]?.tokens).toBeGreaterThan(tokens === 'words' ? 4 : 15);
    },
  );

  test('of one type shows that type alone', async () => {
    expect(listIds((await ask({ strategy: 'semantic' }).made).items)).toEqual(['m3']);
    expect(listIds((await ask({ strategy: 'episodic' }).made).items)).toEqual(['m1', 'm2']);
  });

  test('stays within its budget, and keeps what did not fit apart', async () => {
    for (const packing of ['in-order', 'knapsack'] as const) {
      const { tokens, items, left } = await ask({ budget: 25, packing, tokens: 'o200k_base' }).made;
      expect(tokens).toBeLessThanOrEqual(25);
      expect(items.length + left.length).toBe(2); // one of each source
      expect(items.length).toBeGreaterThan(0);
    }
    expect(await ask({ budget: 1 }).made).toMatchObject({ items: [], tokens: 0 });
  });
});

describe('a source', () => {
  const failing: ContextSource = async () => {
    throw new UnavailableError('documents', 'the server is away; start it');
  };
  const slow: ContextSource = () => new Promise(() => {});

  test.each([
    ['that fails', failing, /UNAVAILABLE.*the server is away/],
    [
      'with a score that is no number',
      async () => [makeItem('d1', { score: Number.NaN })],
      /NOT_FINITE: score is not finite at d1/,
    ],
    ['that is late', slow, /^no answer within 20 ms$/],
  ])('%s is left out and named', async (_, documents, fault) => {
    const memory = createSource(memories).source;
    const made = await assemble('cherry', { timeoutMs: 20 }, { memories: memory, documents }, { now });
    expect(made.sources[0]).toMatchObject({ name: 'documents', items: [], fault: expect.stringMatching(fault) });
    expect(made.items).toHaveLength(5);
  });

  test('that gives more than it was asked for is cut', async () => {
    const many = createSource(Array.from({ length: 50 }, (_, i) => makeItem(`m${i}`))).source;
    expect((await assemble('x', { budget: 500 }, { memories: many }, { now })).sources[0]?.items).toHaveLength(5);
  });

  test('is ended with the caller', async () => {
    const reason = new Error('stopped');
    const made = assemble('x', {}, { memories: slow }, { now, signal: AbortSignal.abort(reason) });
    await expect(made).rejects.toBe(reason);
  });
});

test.each<[string, AssemblyInput, string]>([
  ['  ', {}, 'a question with at least one letter'],
  ['x', { budget: 0 }, 'budget'],
  ['x', { budget: Number.NaN }, 'budget'],
  ['x', { budget: -100 }, 'budget'],
  ['x', { weights: { documents: Number.NaN, memories: 1 } }, 'weights'],
  ['x', { weights: { documents: 0.5, memories: 0.6 } }, 'weights'],
  ['x', { strategi: 'rag' } as never, 'did you mean strategy?'],
])('a question of %j with %j is refused', async (question, options, message) => {
  await expect(ask(options, true, question).made).rejects.toThrow(message);
});

test('a question of 100,000 characters, and one in another script, have a context', async () => {
  for (const question of ['cherry '.repeat(14_286), 'チェリーの木はどこ', '<|endoftext|>'])
    expect((await ask({ tokens: 'cl100k_base' }, true, question).made).items).toHaveLength(6);
});
