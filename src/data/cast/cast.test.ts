import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { describeNoLeak } from '../exports/leak.harness.ts';
import { countFoundByNewest, describeData } from '../prepared/data-folder.harness.ts';
import type { QueryKind } from '../prepared/datasets.ts';
import { type CastOptions, loadCast } from './cast.ts';

const folder = mkdtempSync(join(tmpdir(), 'cast-'));
afterAll(() => rmSync(folder, { recursive: true }));
let written = 0;

interface SampleTurn {
  readonly number: string;
  readonly participant: string;
  readonly parent?: string;
}

function write(topics: unknown): string {
  const path = join(folder, `${written++}.json`);
  writeFileSync(path, JSON.stringify(topics));
  return path;
}

const load = (topics: unknown, queries: QueryKind = 'replies', queryText: CastOptions['queryText'] = 'utterance') =>
  loadCast({ path: write(topics), queries, queryFile: null, queryText });

const user = (number: string, utterance: string, parent?: string, rewritten = `${utterance} In full, please.`) => ({
  number,
  ...(parent === undefined ? {} : { parent }),
  participant: 'User',
  utterance,
  manual_rewritten_utterance: rewritten,
});
const system = (number: string, response: string, parent: string) => ({
  number,
  parent,
  participant: 'System',
  response,
  provenance: ['MARCO_1'],
});

const TOPICS = [7, 8, 9].map((number) => ({
  number,
  turn: [
    user('1-1', `What is said on topic ${number}?`),
    system('1-2', `The first answer on topic ${number}.`, '1-1'),
    system('2-1', `Another answer on topic ${number}.`, '1-1'),
    user('1-3', `How does ${number} go on after that?`, '1-2'),
    user('2-2', `And why is ${number} like that at all?`, '2-1'),
  ],
}));

/** The topics with other parents. @param answers by query id */
function relink(answers: ReadonlyMap<string, string>) {
  return TOPICS.map(({ number, turn }) => ({
    number,
    turn: turn.map((one: SampleTurn) => {
      const answer = answers.get(`q-${number}_${one.number}`);
      return answer === undefined ? one : { ...one, parent: answer.slice(answer.indexOf('_') + 1) };
    }),
  }));
}

const readLevel = ({ id }: Turn) => (id.endsWith('_1-1') ? 0 : /_(1-2|2-1)$/.test(id) ? 1 : 2);

describe('topic trees', () => {
  describeDataset('cast', () => load(TOPICS), {
    reassigned: (answers) => load(relink(answers)),
    // Times go by levels: only a turn of the same level can be the answer without another time.
    mayAnswer: (turn, query, { corpus }) => {
      const own = corpus.getTurn(query.turnId as string);
      return turn.conversationId === own.conversationId && readLevel(turn) === readLevel(own) - 1;
    },
  });

  const loadUntil = async (end: number) => {
    const { corpus } = await load(TOPICS, 'none');
    const isEarlier = (id: string) => corpus.getTurn(id).timestamp < end;
    const topics = TOPICS.map(({ number, turn }) => ({
      number,
      turn: turn.filter((one) => isEarlier(`${number}_${one.number}`)),
    }));
    return load(topics, 'none');
  };
  describe.each(['replies', 'continuation'] as const)('%s', (queries) => {
    describeNoLeak(`cast, ${queries}`, () => load(TOPICS, queries), loadUntil, false);
  });

  it('are conversations of roles, in an order that is no time', async () => {
    const { corpus, declaration, queries, qrels } = await load(TOPICS);
    expect(declaration.times).toBe('order');
    expect(corpus.getTurn('7_1-2')).toMatchObject({
      conversationId: '7',
      parentId: '7_1-1',
      author: 'System',
      channel: null,
      text: 'The first answer on topic 7.',
    });
    expect(corpus.turns.map(({ timestamp }) => timestamp / 60_000)).toEqual(corpus.turns.map((_, i) => i));
    const levels = corpus.getConversation('8').turns.map(readLevel);
    expect(levels).toEqual([0, 1, 1, 2, 2]);
    expect(queries.length).toBe(12);
    expect(Object.fromEntries(qrels.get('q-7_1-3') ?? [])).toEqual(expect.objectContaining({ '7_1-1': 2, '7_1-2': 3 }));
  });

  it('are asked by rewritten texts if you choose so, those of people or of a program', async () => {
    const automatic = {
      number: 3,
      turn: [
        user('1-1', 'What is it?'),
        {
          ...user('1-2', 'And why?', '1-1'),
          manual_rewritten_utterance: undefined,
          automatic_rewritten_utterance: 'And why is it so?',
        },
      ],
    };
    const topics = [...TOPICS, automatic];
    const asked = await load(topics, 'replies', 'rewritten');
    const said = await load(topics, 'replies');
    const text = ({ queries }: typeof asked, id: string) => queries.find((query) => query.id === id)?.text;
    expect(text(asked, 'q-7_1-3')).toBe('How does 7 go on after that? In full, please.');
    expect(text(said, 'q-7_1-3')).toBe('How does 7 go on after that?');
    expect(text(asked, 'q-3_1-2')).toBe('And why is it so?');
    expect(asked.corpus.turns).toEqual(said.corpus.turns);
    expect(asked.declaration.features[0]).toMatch(/rewritten by who knew/);
  });

  it('are in one file of a folder: of two versions, one is to be named', async () => {
    const both = mkdtempSync(join(folder, 'versions-'));
    const names = ['v1.0', 'v1.1'].map((version) => `2022_evaluation_topics_tree_${version}.json`);
    for (const name of names) writeFileSync(join(both, name), JSON.stringify(TOPICS));
    const choice = { queries: 'none', queryFile: null, queryText: 'utterance' } as const;
    await expect(loadCast({ path: both, ...choice })).rejects.toThrow(
      `several files of topic trees in: ${both} (${names.join(', ')}); name one of them`,
    );
    rmSync(join(both, names[1] as string));
    expect((await loadCast({ path: both, ...choice })).facts.topics).toBe(3);
  });

  it('with a circle lose it, and without an answer are refused', async () => {
    const circle = [system('9-1', 'one', '9-2'), system('9-2', 'two', '9-1'), system('1-2', 'three', '1-1')];
    const topics = TOPICS.map(({ number, turn }) => ({ number, turn: [...turn, ...circle] }));
    expect((await load(topics)).facts).toMatchObject({
      'skipped: messages in a circle of parents': 6,
      'skipped: messages that are there twice': 3,
    });
    await expect(load([{ number: 1, turn: [user('1-1', 'What is it?')] }])).rejects.toThrow(
      /^no message for queries: replies in: /,
    );
  });

  it.each([
    [[{ number: 'x', turn: [] }], /\.json: \[0\]\.number: expected .+, got "x"; name a file of topic trees$/],
    [
      [{ number: 1, turn: [{ number: '1-1', participant: 'Bot' }] }],
      /\.json: \[0\]\.turn\[0\]\.participant: expected "User" or "System", got "Bot"/,
    ],
  ])('of another form are refused: %j', async (topics, fault) => {
    const error = await load(topics).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toMatch(fault);
  });
});

describeData('the topics of 2022', 'cast2022/2022_evaluation_topics_tree_v1.0.json', (path) => {
  const other = path.replace('2022_evaluation', '2022_automatic_evaluation');
  const choice = { queries: 'replies', queryFile: null } as const;

  it('have the counts and the artefact that the docs state', async () => {
    const dataset = await loadCast({ path, ...choice, queryText: 'utterance' });
    expect(dataset.facts).toEqual({
      topics: 18,
      'texts with undecodable characters': 0,
      messages: 408,
      conversations: 18,
      'not asked: repeat an earlier message': 1,
      'not asked: shorter than 10 letters': 4,
      queries: 385,
      'queries, dev': 276,
      'queries, test': 109,
    });
    expect(countFoundByNewest(dataset)).toBe(dataset.queries.length);
  });

  it('are the same turns in both files', async () => {
    const [manual, automatic] = await Promise.all(
      [path, other].map((file) => loadCast({ path: file, ...choice, queryText: 'rewritten' })),
    );
    expect(automatic?.corpus.turns).toEqual(manual?.corpus.turns);
    expect(automatic?.queries).not.toEqual(manual?.queries);
  });
});
