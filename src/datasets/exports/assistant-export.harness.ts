import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Dataset } from '../../model/dataset.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import type { QueryKind } from '../replies/query-options.ts';
import type { ExportOptions } from './assistant-export.ts';
import { describeNoLeak } from './leak.harness.ts';
import { writeZip } from './zip.fixture.ts';

/** A message of a sample, in no assistant's format. */
export interface SampleMessage {
  readonly id: string;
  readonly parentId: string | null;
  readonly role: 'person' | 'assistant';
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly text: string;
}

export interface SampleChat {
  readonly id: string;
  readonly messages: readonly SampleMessage[];
}

const MINUTE = 60_000;
const NOON = Date.UTC(2024, 2, 1, 12);
function say(id: string, parentId: string | null, role: SampleMessage['role'], minute: number, text: string) {
  return { id, parentId, role, time: NOON + minute * MINUTE, text };
}

const TOPICS = ['sourdough starters', 'tomato seedlings', 'bicycle gears', 'winter coats'];

/**
 * Chats of two messages, but for the first chat, which has one. Every first message is earlier than every second one, so that each second message may answer
 * any first one, and one of them is free.
 */
const PAIRS: readonly SampleChat[] = TOPICS.map((topic, i) => ({
  id: `chat-${i}`,
  messages: [
    say(`first-${i}`, null, 'person', i, `What do ${topic} need?`),
    say(
      `second-${i}`,
      `first-${i}`,
      'person',
      TOPICS.length + i,
      `I tried number ${i} before, and ${'so '.repeat(i)}it failed.`,
    ),
  ].slice(0, i === 0 ? 1 : 2),
}));

/** The pairs with each second message below another first one. @param answers by query id */
function reassign(answers: ReadonlyMap<string, string>): SampleChat[] {
  const messages = PAIRS.flatMap((chat) => chat.messages);
  const moved = messages.map((one) => ({ ...one, parentId: answers.get(`q-${one.id}`) ?? one.parentId }));
  return PAIRS.map(({ id }, i) => ({
    id,
    messages: moved.filter((one) => one.id === `first-${i}` || one.parentId === `first-${i}`),
  }));
}

const QUESTION = 'Please tell me how long red lentils have to cook in a pot of salted water today.';

/** A chat with an edited prompt, a regenerated answer that quotes it, and a prompt that both branches have. */
const BRANCHES: readonly SampleChat[] = [
  {
    id: 'soup',
    messages: [
      say('edit-1', null, 'person', 0, QUESTION),
      say('answer-1', 'edit-1', 'assistant', 1, `You asked:\n${QUESTION}\nA quarter of an hour.`),
      say('answer-2', 'edit-1', 'assistant', 2, `You asked:\n${QUESTION}\nFifteen minutes are enough for them.`),
      say('next-1', 'answer-2', 'person', 3, 'And the green ones, do they take as long?'),
      say('edit-2', null, 'person', 4, QUESTION.replace('today', 'this evening')),
      say('answer-3', 'edit-2', 'assistant', 5, 'About fifteen minutes for red ones.'),
      say('next-2', 'answer-3', 'person', 6, 'And the green ones, do they take as long?'),
    ],
  },
  {
    id: 'bread',
    messages: [
      say('bread-1', null, 'person', 2.5, 'Why does my bread not rise at all?'),
      say('bread-2', 'bread-1', 'assistant', 3.5, 'It may be too cold in your kitchen.'),
      say('bread-3', 'bread-2', 'person', 7, 'It was the fridge door, thank you!'),
    ],
  },
];

/** How an assistant's export is written and read. */
interface AssistantSample {
  readonly name: string;
  readonly load: (options: ExportOptions) => Promise<Dataset>;
  /** The conversations.json of chats. */
  readonly encode: (chats: readonly SampleChat[]) => string;
}

/** The tests that the loader of every assistant's export passes: the contract of datasets, no look ahead, and the three forms of an export. */
export function describeAssistantExport({ name, load, encode }: AssistantSample): void {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  afterAll(() => rmSync(folder, { recursive: true }));
  let written = 0;
  const write = (chats: readonly SampleChat[]): string => {
    const path = join(folder, `${written++}.json`);
    writeFileSync(path, encode(chats));
    return path;
  };
  const loadChats = (chats: readonly SampleChat[], queries: QueryKind) =>
    load({ path: write(chats), queries, queryFile: null });

  describe.each(['replies', 'continuation'] as const)('%s', (queries) => {
    describeDataset(`${name}, ${queries}`, () => loadChats(PAIRS, queries), {
      reassigned: (answers) => loadChats(reassign(answers), queries),
      mayAnswer: (turn, { turnId }) => {
        const i = Number((turnId as string).slice('second-'.length));
        return turn.id === `first-${(i + 1) % PAIRS.length}`;
      },
    });

    describeNoLeak(
      `${name}, ${queries}`,
      () => loadChats(BRANCHES, queries),
      (end) =>
        loadChats(
          BRANCHES.map(({ id, messages }) => ({ id, messages: messages.filter(({ time }) => time < end) })),
          'none',
        ),
    );
  });

  it('asks no new version of a message, and nothing that an earlier message has', async () => {
    const { queries, facts } = await loadChats(BRANCHES, 'replies');
    expect(queries.map(({ id, text }) => [id, text])).toEqual([
      ['q-answer-1', 'You asked:\nA quarter of an hour.'],
      ['q-next-1', 'And the green ones, do they take as long?'],
      ['q-bread-2', 'It may be too cold in your kitchen.'],
      ['q-answer-3', 'About fifteen minutes for red ones.'],
      ['q-bread-3', 'It was the fridge door, thank you!'],
    ]);
    expect(facts).toMatchObject({
      'not asked: new versions of an earlier message': 1,
      'not asked: repeat an earlier message': 1,
    });
  });

  it('continues each conversation by the last message of a person that may be asked', async () => {
    const { queries, qrels, relevantGrade, declaration } = await loadChats(BRANCHES, 'continuation');
    expect(queries.map(({ id }) => id)).toEqual(['q-next-1', 'q-bread-3']);
    expect(Object.fromEntries(qrels.get('q-next-1') ?? [])).toEqual({ 'edit-1': 2, 'answer-1': 1, 'answer-2': 3 });
    expect(relevantGrade).toBe(1);
    expect(declaration.task).toMatch(/last message of a conversation must find the rest/);
  });

  it('is the same from the json, a folder and a zip file', async () => {
    const json = encode(BRANCHES);
    writeFileSync(join(folder, 'conversations.json'), json);
    const zip = join(folder, 'export.zip');
    writeFileSync(
      zip,
      writeZip([
        { name: 'chat.html', content: 'x' },
        { name: 'conversations.json', content: json },
      ]),
    );
    const options = { queries: 'none', queryFile: null } as const;
    const [file, inFolder, zipped] = await Promise.all(
      [join(folder, 'conversations.json'), folder, zip].map((path) => load({ path, ...options })),
    );
    expect(inFolder?.hash).toBe(file?.hash);
    expect(zipped?.hash).toBe(file?.hash);
  });
}
