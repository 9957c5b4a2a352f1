import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import type { Dataset } from '../../model/dataset.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import type { QueryKind } from '../prepared/datasets.ts';
import type { ExportOptions } from './export-dataset.ts';
import { describeNoLeak } from './leak.harness.ts';

/** A message of a sample, in no source's format. */
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

/** @param minute after noon. */
export function writeSampleMessage(
  id: string,
  parentId: string | null,
  role: SampleMessage['role'],
  minute: number,
  text: string,
): SampleMessage {
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
    writeSampleMessage(`first-${i}`, null, 'person', i, `What do ${topic} need?`),
    writeSampleMessage(
      `second-${i}`,
      `first-${i}`,
      'person',
      TOPICS.length + i,
      `I tried number ${i} before, and ${'so '.repeat(i)}it failed.`,
    ),
  ].slice(0, i === 0 ? 1 : 2),
}));

/** Two threads of two people that overlap in time, one with a quote. */
export const TALK: readonly SampleChat[] = [
  {
    id: 'soup',
    messages: [
      writeSampleMessage('q1', null, 'person', 0, 'How long do red lentils cook, does anybody know?'),
      writeSampleMessage('q3', 'q1', 'assistant', 2, 'A quarter of an hour is enough for them.'),
      writeSampleMessage(
        'q5',
        'q1',
        'person',
        4,
        'You said: A quarter of an hour is enough for them.\nThat was too short for mine.',
      ),
    ],
  },
  {
    id: 'bread',
    messages: [
      writeSampleMessage('q2', null, 'assistant', 1, 'My bread does not rise, by the way.'),
      writeSampleMessage('q4', 'q2', 'person', 3, 'Put the bread in a warmer place, I would say.'),
    ],
  },
];

/** How an export is written and read. */
export interface ExportSample {
  readonly name: string;
  readonly load: (options: ExportOptions) => Promise<Dataset>;
  /** The file of the conversations. */
  readonly encode: (chats: readonly SampleChat[]) => string | Uint8Array;
  /** Of the file; by default `json`. */
  readonly extension?: string;
  /** The id of the turn of a message; by default that of the message. */
  readonly formatTurnId?: (message: SampleMessage) => string;
  /** True if messages with the same author and parent are versions of one message. */
  readonly hasVersions: boolean;
}

/** The pairs with each second message below another first one. @param answers by query id */
function reassign(
  answers: ReadonlyMap<string, string>,
  formatTurnId: (message: SampleMessage) => string,
): SampleChat[] {
  const messages = PAIRS.flatMap((chat) => chat.messages);
  const ids = new Map(messages.map((one) => [formatTurnId(one), one.id]));
  const findAnswer = (one: SampleMessage) => ids.get(answers.get(`q-${formatTurnId(one)}`) ?? '');
  const moved = messages.map((one) => ({ ...one, parentId: findAnswer(one) ?? one.parentId }));
  return PAIRS.map(({ id }, i) => ({
    id,
    messages: moved.filter((one) => one.id === `first-${i}` || one.parentId === `first-${i}`),
  }));
}

/** Writes chats into files of a folder, and loads them. */
export function createChatLoader({ name, load, encode, extension = 'json' }: ExportSample) {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  afterAll(() => rmSync(folder, { recursive: true }));
  let written = 0;
  return (chats: readonly SampleChat[], queries: QueryKind): Promise<Dataset> => {
    const path = join(folder, `${written++}.${extension}`);
    writeFileSync(path, encode(chats));
    return load({ path, queries, queryFile: null });
  };
}

/**
 * The tests that every source without queries passes, by replies and by continuations: the contract of datasets, and no look ahead.
 *
 * @param chats on which no query may look ahead.
 */
export function describeExportQueries(sample: ExportSample, chats: readonly SampleChat[]): void {
  const { name, formatTurnId = ({ id }) => id, hasVersions } = sample;
  const loadChats = createChatLoader(sample);
  const firsts = PAIRS.map(({ messages }) => formatTurnId(messages[0] as SampleMessage));
  const seconds = PAIRS.map(({ messages }) => (messages[1] === undefined ? null : formatTurnId(messages[1])));
  const until = (end: number) =>
    chats
      .map(({ id, messages }) => ({ id, messages: messages.filter(({ time }) => time < end) }))
      .filter(({ messages }) => messages.length > 0);

  describe.each(['replies', 'continuation'] as const)('%s', (queries) => {
    describeDataset(`${name}, ${queries}`, () => loadChats(PAIRS, queries), {
      reassigned: (answers) => loadChats(reassign(answers, formatTurnId), queries),
      mayAnswer: (turn, { turnId }) => turn.id === firsts[(seconds.indexOf(turnId as string) + 1) % firsts.length],
    });
    describeNoLeak(
      `${name}, ${queries}`,
      () => loadChats(chats, queries),
      (end) => loadChats(until(end), 'none'),
      hasVersions,
    );
  });
}
