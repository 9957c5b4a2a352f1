import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { loadMailFiles } from './mail-dataset.ts';

const folder = mkdtempSync(join(tmpdir(), 'mail-threads-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Eleven words each, unlike each other, so that none is taken for a copy or a quote of another. */
const WORDS = ['eggs', 'milk', 'flour', 'yeast', 'salt', 'rye', 'plums'];

/** Seven threads of two, a day apart: a question and its answer, which quotes it. And an answer whose clock is late: it is dated before its question. */
const PAIRS = WORDS.flatMap((word, day) => {
  const question = `Who of you knows how much ${word} a ${word} cake needs in ${word} season?`;
  const answer = `I for one take ${word} by ${word} until the ${word} bowl holds no more ${word}.`;
  const formatMailHead = (hour: number, id: string, from: string) =>
    `From: ${from} <${from.slice(0, 3)}@x.example>\nDate: ${20 + day} Aug 2002 0${hour}:07:00 +0000\nMessage-Id: <${id}-${word}@x>\nList-Id: <cooks.x.example>\n`;
  return [
    `${formatMailHead(7, 'q', 'Ana Cruz')}\n${question}\n`,
    `${formatMailHead(9, 'a', 'Bea Luz')}In-Reply-To: <q-${word}@x>\n\nOn Tuesday Ana Cruz wrote:\n> ${question}\n\n${answer}\n`,
  ];
});
const MAILS = [
  ...PAIRS,
  `From: Cem Tan <cem@x.example>\nDate: 26 Aug 2002 06:07:00 +0000\nMessage-Id: <late@x>\nIn-Reply-To: <q-plums@x>\n\nMy own way with plums is to leave them out of everything that I bake.\n`,
];
const ENVELOPE = 'From ana@x.example Thu Aug 22 09:07:00 2002\n';
const mailbox = join(folder, 'cooks.mbox');
writeFileSync(mailbox, MAILS.map((mail) => `${ENVELOPE}${mail}\n`).join(''));
const single = join(folder, 'single');
mkdirSync(single);
for (const [i, mail] of MAILS.entries()) writeFileSync(join(single, `${10 + i}.eml`), mail);

/** The place in the mailbox of each turn, in time order. */
const PLACES = [...PAIRS.keys()].flatMap((place) => (place === 13 ? [14, 13] : [place]));
const findTurnMail = (turnId: string) => MAILS[PLACES[Number(turnId.slice(1)) - 1] as number] as string;
const readMessageId = (mail: string) => /^Message-Id: (.*)$/m.exec(mail)?.[1];

/** Reads the mails of the mailbox, some of which answer another mail. */
function readReassigned(answers: ReadonlyMap<string, string>, split: 'time' | 'test' = 'time') {
  const headers = new Map(
    [...answers].map(([queryId, turnId]) => [
      findTurnMail(queryId.slice('q-'.length)),
      readMessageId(findTurnMail(turnId)),
    ]),
  );
  const changed = MAILS.map((mail) => {
    const id = headers.get(mail);
    return id === undefined ? mail : mail.replace(/^In-Reply-To: .*$/m, `In-Reply-To: ${id}`);
  });
  const path = join(mkdtempSync(join(folder, 'reassigned-')), 'cooks.mbox');
  writeFileSync(path, changed.map((mail) => `${ENVELOPE}${mail}\n`).join(''));
  return load(path, split);
}

const load = (path: string, split: 'time' | 'test' = 'time', cacheFolder: string | null = null) =>
  loadMailFiles({ path, split, cacheFolder });

describe('a mailbox', () => {
  describeDataset('mail-threads', () => load(mailbox), { reassigned: readReassigned });
  describe('all for test', () =>
    describeDataset('mail-threads', () => load(mailbox, 'test'), {
      reassigned: (answers) => readReassigned(answers, 'test'),
    }));

  it('is prepared as the mails of the archive are', async () => {
    const dataset = await load(mailbox);
    expect(dataset.corpus.size).toBe(15);
    expect(dataset.facts['left out: replies dated before their parent']).toBe(1);
    expect(dataset.queries[0]).toEqual({
      id: 'q-m0002',
      turnId: 'm0002',
      text: 'I for one take eggs by eggs until the eggs bowl holds no more eggs.',
      timestamp: Date.UTC(2002, 7, 20, 9, 7),
      anchorTurnId: null,
      author: 'person-002',
      channel: 'cooks.x.example',
      kind: 'statement',
      split: 'dev',
      cluster: 't-m0001',
    });
    expect(Object.fromEntries(dataset.qrels.get('q-m0002') ?? [])).toEqual({ m0001: 3 });
  });

  it('is parted by time, the first 70 % of the threads for development, or is all for test', async () => {
    const [byTime, all] = await Promise.all([load(mailbox), load(mailbox, 'test')]);
    expect(byTime.queries.map(({ split }) => split)).toEqual(['dev', 'dev', 'dev', 'dev', 'test', 'test', 'test']);
    expect([...byTime.devConversations]).toEqual(['t-m0001', 't-m0003', 't-m0005', 't-m0007']);
    expect(all.queries.map(({ split }) => split)).toEqual(Array(7).fill('test'));
    expect(all.devConversations.size).toBe(0);
  });

  it('is the same as a folder of its mails', async () => {
    expect((await load(single)).hash).toBe((await load(mailbox)).hash);
  });
});

describe('the rows that are kept', () => {
  it('are read again, by content and split, not by path', async () => {
    const cacheFolder = mkdtempSync(join(folder, 'cache-'));
    const first = await load(mailbox, 'time', cacheFolder);
    const names = readdirSync(cacheFolder);
    expect(names).toEqual([expect.stringMatching(/^mail-threads-[0-9a-f]{16}\.jsonl$/)]);
    const copy = join(folder, 'copy.mbox');
    writeFileSync(copy, MAILS.map((mail) => `${ENVELOPE}${mail}\n`).join(''));
    expect(await load(copy, 'time', cacheFolder)).toEqual(first);
    expect(readdirSync(cacheFolder)).toEqual(names);
    await load(mailbox, 'test', cacheFolder);
    writeFileSync(copy, MAILS.slice(2).join('').replaceAll('From: ', `\n${ENVELOPE}From: `).trimStart());
    expect((await load(copy, 'time', cacheFolder)).corpus.size).toBe(13);
    expect(readdirSync(cacheFolder)).toHaveLength(3);
  });
});

describe('what has nothing to ask', () => {
  it('is refused', async () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    await expect(load(empty)).rejects.toThrow(ValidationError);
    await expect(load(empty)).rejects.toThrow(`no mail in: ${empty}`);
    writeFileSync(join(empty, 'a.eml'), MAILS[0] as string);
    await expect(load(empty)).rejects.toThrow(`no reply of ten words or more to a mail of five or more in: ${empty}`);
  });
});
