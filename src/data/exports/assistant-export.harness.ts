import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import {
  createChatLoader,
  describeExportQueries,
  type ExportSample,
  type SampleChat,
  writeSampleMessage as say,
} from './export-queries.harness.ts';
import { writeZip } from './zip.fixture.ts';

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

/** The tests that the loader of every assistant's export passes. */
export function describeAssistantExport(assistant: Omit<ExportSample, 'hasVersions'>): void {
  const sample = { ...assistant, hasVersions: true };
  const { name, load, encode } = sample;
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  afterAll(() => rmSync(folder, { recursive: true }));
  const loadChats = createChatLoader(sample);

  describeExportQueries(sample, BRANCHES);

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
