import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { describeData } from '../prepared/data-folder.harness.ts';
import { chooseSplitByHash } from '../prepared/prepared.ts';
import { HOTPOT, MUSIQUE } from './multihop.fixture.ts';
import { loadMultihop } from './multihop.ts';

const path = mkdtempSync(join(tmpdir(), 'multihop-'));
afterAll(() => rmSync(path, { recursive: true }));

/** Writes a file of questions and one of passages. */
function writeFiles(name: string, { questions, passages }: { questions: unknown; passages: unknown }) {
  const files = { questions: `${name}.json`, passages: `${name}_corpus.json` };
  writeFileSync(join(path, files.questions), JSON.stringify(questions));
  writeFileSync(join(path, files.passages), JSON.stringify(passages));
  return { path, ...files };
}
const musique = writeFiles('musique', MUSIQUE);
const hotpot = writeFiles('hotpotqa', HOTPOT);
const placeOf = (turnId: string) => Number(turnId.slice(1));

describeDataset('multihop, MuSiQue', () => loadMultihop(musique), {
  reassigned: (answers) => {
    const questions = MUSIQUE.questions.map((question) => {
      const answer = answers.get(question.id);
      if (answer === undefined) return question;
      const paragraphs = question.paragraphs.map((paragraph) => ({
        ...paragraph,
        is_supporting: paragraph.idx === placeOf(answer),
      }));
      return { ...question, paragraphs };
    });
    return loadMultihop(writeFiles('reassigned-musique', { ...MUSIQUE, questions }));
  },
});

describeDataset('multihop, HotpotQA', () => loadMultihop(hotpot), {
  reassigned: (answers) => {
    const titles = Object.keys(HOTPOT.passages);
    const questions = HOTPOT.questions.map((question) => {
      const answer = answers.get(question._id);
      return answer === undefined ? question : { ...question, supporting_facts: [[titles[placeOf(answer)], 0]] };
    });
    return loadMultihop(writeFiles('reassigned-hotpotqa', { ...HOTPOT, questions }));
  },
});

describe('a file of MuSiQue', () => {
  it('is passages of one turn, without time and thread', async () => {
    const { corpus, declaration, devConversations } = await loadMultihop(musique);
    expect(corpus.getTurn('p1')).toEqual({
      id: 'p1',
      conversationId: 'p1',
      parentId: null,
      timestamp: 0,
      author: null,
      channel: null,
      text: 'Ines Okafor\nInes Okafor was born in Lindholm.',
      attributes: { source: 'documents', title: 'Ines Okafor' },
    });
    expect(corpus.conversations).toHaveLength(5);
    expect([declaration.times, declaration.threads]).toEqual(['none', 'none']);
    expect(devConversations.size).toBe(5); // an encoder may be fitted on every passage
  });

  it('has questions that see every passage, by their hops', async () => {
    const { corpus, queries, qrels, facts } = await loadMultihop(musique);
    for (const { timestamp, cluster, id, split } of queries) {
      expect(corpus.countEarlierTurns(timestamp)).toBe(5);
      expect(cluster).toBe(id);
      expect(split).toBe(chooseSplitByHash(id));
    }
    expect(queries.map(({ kind }) => kind)).toEqual(['musique, 2 hops', 'musique, 3 hops', 'musique, 2 hops']);
    const judged = [...qrels].map(([id, grades]) => [id, Object.fromEntries(grades)]);
    // p3 has the title of p2, and is no answer.
    expect(judged).toEqual([
      ['2hop__1_2', { p0: 1, p1: 1 }],
      ['3hop1__1_2_3', { p0: 1, p1: 1, p2: 1 }],
      ['2hop__3_4', { p2: 1, p4: 1 }],
    ]);
    expect(facts).toMatchObject({ documents: 5, queries: 3, 'queries, musique, 2 hops': 2, judgements: 7 });
  });
});

it('reads a file of HotpotQA: sentences by title, questions by their type', async () => {
  const { corpus, queries, qrels } = await loadMultihop(hotpot);
  expect(corpus.getTurn('p1').text).toBe('Velm\nVelm is a town of nine thousand people.');
  expect(queries.map(({ id, kind }) => [id, kind])).toEqual([
    ['5a7a', 'hotpotqa, bridge'],
    ['5a7b', 'hotpotqa, comparison'],
  ]);
  expect(Object.fromEntries(qrels.get('5a7b') ?? [])).toEqual({ p0: 1, p2: 1 });
});

it('counts repeated passages and passages without a text', async () => {
  const passages = [...MUSIQUE.passages, MUSIQUE.passages[0], { title: 'Nothing', text: ' ' }];
  const { facts } = await loadMultihop(writeFiles('more', { ...MUSIQUE, passages }));
  expect(facts).toMatchObject({
    'skipped: repeated passages': 1,
    'skipped: passages without a text': 1,
    documents: 5,
    judgements: 7,
  });
});

const [question] = MUSIQUE.questions;
const [hotpotQuestion] = HOTPOT.questions;

describe('what cannot be read is named', () => {
  it.each([
    [
      'a passage that is missing',
      { ...MUSIQUE, passages: MUSIQUE.passages.slice(2) },
      '4 errors, supporting passages that ',
    ],
    [
      'a title that the context lacks',
      { ...HOTPOT, questions: [{ ...hotpotQuestion, supporting_facts: [['Elm Street', 0]] }] },
      'question 5a7a: "Elm Street"',
    ],
    ['a second question of an id', { ...MUSIQUE, questions: [question, question] }, 'duplicate question id'],
    [
      'a question without paragraphs',
      { ...MUSIQUE, questions: [{ id: 'a', question: 'b' }] },
      '[0].paragraphs: expected ',
    ],
    ['passages of another form', { ...MUSIQUE, passages: { 'Ash Street': 'text' } }, 'Ash Street: expected '],
    [
      'no supporting passage',
      { ...MUSIQUE, questions: [{ ...question, paragraphs: [] }] },
      'no question has a relevant document in: ',
    ],
  ])('%s', async (name, files, message) => {
    const error = await loadMultihop(writeFiles(name.replaceAll(' ', '-'), files)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toContain(message);
  });

  it('a file that is not there, and one that is not JSON', async () => {
    await expect(loadMultihop({ ...musique, questions: 'none.json' })).rejects.toThrow(StorageError);
    writeFileSync(join(path, 'broken.json'), '[{');
    await expect(loadMultihop({ ...musique, passages: 'broken.json' })).rejects.toThrow(
      'not JSON: [{; name a file of passages',
    );
  });
});

describeData('the samples of HippoRAG', 'hipporag', (folder) => {
  const load = (name: string) =>
    loadMultihop({ path: folder, questions: `${name}_train.json`, passages: `${name}_train_corpus.json` });

  it('have the counts that the docs tell', async () => {
    expect((await load('musique')).facts).toEqual({
      'skipped: repeated passages': 0,
      'skipped: passages without a text': 0,
      'skipped: questions without a relevant document': 0,
      'texts with undecodable characters': 0,
      documents: 1890,
      queries: 100,
      'queries, dev': 50,
      'queries, test': 50,
      'queries, musique, 2 hops': 68,
      'queries, musique, 3 hops': 27,
      'queries, musique, 4 hops': 5,
      judgements: 237,
    });
    expect((await load('hotpotqa')).facts).toMatchObject({
      documents: 994,
      queries: 100,
      'queries, dev': 52,
      'queries, test': 48,
      'queries, hotpotqa, bridge': 78,
      'queries, hotpotqa, comparison': 22,
      judgements: 200,
    });
  });
});
