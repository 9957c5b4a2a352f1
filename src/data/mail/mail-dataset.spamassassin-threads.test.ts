import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { SPAM_ASSASSIN_LICENCE } from '../prepared/datasets.ts';
import { Counts } from '../prepared/prepared.ts';
import { findMailArchive, readHamMails } from './mail-archive.ts';
import { buildMailDataset, loadSpamAssassinThreads } from './mail-dataset.ts';
import { prepareRead } from './mail-preparation.ts';
import { type DatedMail, readMails } from './read-mails.ts';

const cacheFolder = mkdtempSync(join(tmpdir(), 'threads-'));
afterAll(() => rmSync(cacheFolder, { recursive: true }));

const listWordTokens = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function listRunsOfEight(text: string): string[] {
  const all = listWordTokens(text);
  return all.slice(0, Math.max(all.length - 7, 0)).map((_, i) => all.slice(i, i + 8).join(' '));
}

describe('spamassassin-threads', () => {
  let dataset: Dataset;
  beforeAll(async () => {
    dataset = await loadSpamAssassinThreads({ cacheFolder });
  });

  const findAnsweredTurn = (query: Query) => {
    const [parent] = [...(dataset.qrels.get(query.id) ?? [])].filter(([, grade]) => grade === 3);
    return dataset.corpus.getTurn(parent?.[0] as string);
  };

  it('has the counts that its docs tell', () => {
    expect(dataset.facts).toEqual({
      'mails read': 4150,
      'skipped: unreadable': 0,
      'skipped: no id': 0,
      'skipped: id seen': 0,
      'skipped: no date': 0,
      'dropped: RSS items': 623,
      'dates taken from Received': 1,
      'replies whose parent is there': 1559,
      'replies of which only an older ancestor is there': 61,
      'times moved after their parent': 19,
      'lines cut: armour': 472,
      'lines cut: forwarded': 8222,
      'lines cut: footer': 16_187,
      'lines cut: signature': 11_322,
      'lines cut: headers': 1023,
      'lines cut: quotes': 29_226,
      'lines cut: attributions': 1716,
      'lines cut: said in an earlier mail': 7816,
      'dropped: near-duplicates': 38,
      'dropped: no text of their own': 37,
      'dropped: newsletters that answer nothing': 237,
      'left out: replies dated before their parent': 17,
      authors: 632,
      'texts with undecodable characters': 11,
      messages: 3215,
      'messages in threads of two or more': 2160,
      'threads of two or more': 555,
      'trees with a query': 524,
      queries: 1438,
      'queries, dev': 971,
      'queries, test': 467,
    });
    expect(dataset.corpus.size).toBe(3215);
    expect(dataset.queries.length).toBe(1438);
  });

  it('shares no run of eight words between a query and its parent', () => {
    for (const query of dataset.queries) {
      const parent = new Set(listRunsOfEight(findAnsweredTurn(query).text));
      expect(
        listRunsOfEight(query.text).filter((run) => parent.has(run)),
        query.id,
      ).toEqual([]);
    }
  });

  it('has no name, address or id of the source in anything it gives out', () => {
    const given = JSON.stringify([dataset.corpus.turns, dataset.queries, [...dataset.qrels.keys()]]);
    expect(given.match(/[\w.+-]+@[\w-]+\.\w+/g)).toBeNull();
    const names = new Map<string, string[][]>();
    const ids = new Set<string>();
    for (const { read } of readHamMails(findMailArchive())) {
      const raw = Buffer.from(read()).toString('latin1');
      const [, quoted, comment] = /^From: *"?([^"<\n]*?)"? *<|^From: *\S+@\S+ \(([^)\n]*)\)/m.exec(raw) ?? [];
      const name = (quoted ?? comment ?? '').trim();
      const [first, ...rest] = listWordTokens(name);
      if (/^[\w.'-]+( [\w.'-]+)+$/.test(name) && !raw.includes('rssfeeds@'))
        names.set(first as string, [...(names.get(first as string) ?? []), rest]);
      ids.add(/^Message-Id: *<([^>\n]+)>/im.exec(raw)?.[1] as string);
    }
    expect(names.size).toBeGreaterThan(300);
    expect(ids.size).toBe(4150);
    const written = listWordTokens(given);
    const leaked = written.filter((word, i) =>
      names.get(word)?.some((rest) => rest.every((part, k) => part === written[i + 1 + k])),
    );
    expect(leaked).toEqual([]);
    expect(given.split(/[\s<>"\\]+/).filter((word) => ids.has(word))).toEqual([]);
  });

  it('has ids, authors and channels of the form that the docs tell', () => {
    for (const turn of dataset.corpus.turns) {
      expect(turn.id).toMatch(/^m\d{4}$/);
      expect(turn.conversationId).toMatch(/^t-m\d{4}$/);
      expect(turn.author).toMatch(/^person-\d{3}$/);
      expect(turn.channel ?? 'none').toMatch(/^[\w.-]+$/);
    }
  });

  it('keeps strict time order', () => {
    for (const turn of dataset.corpus.turns)
      if (turn.parentId !== null)
        expect(dataset.corpus.getTurn(turn.parentId).timestamp, turn.id).toBeLessThan(turn.timestamp);
    for (const query of dataset.queries)
      for (const id of dataset.qrels.get(query.id)?.keys() ?? [])
        expect(dataset.corpus.getTurn(id).timestamp, query.id).toBeLessThan(query.timestamp);
    const times = dataset.queries.map((query) => query.timestamp);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it('makes each query of the turn that it is', () => {
    for (const query of dataset.queries) {
      const turn = dataset.corpus.getTurn(query.id.replace(/^q-/, ''));
      const { text, timestamp, author, channel } = turn;
      expect(query).toMatchObject({
        text,
        timestamp,
        author,
        channel,
        anchorTurnId: null,
        cluster: turn.conversationId,
      });
      expect(listWordTokens(text).length).toBeGreaterThanOrEqual(10);
      expect(findAnsweredTurn(query).id).toBe(turn.parentId);
      expect(listWordTokens(findAnsweredTurn(query).text).length).toBeGreaterThanOrEqual(5);
    }
  });

  it('splits by tree and by the time of its root', () => {
    const readRootTime = (id: string) => dataset.corpus.getConversation(id).turns[0]?.timestamp as number;
    const ids = dataset.corpus.conversations.map(({ id }) => id);
    const test = ids.filter((id) => !dataset.devConversations.has(id));
    const dev = ids.filter((id) => dataset.devConversations.has(id));
    expect(Math.max(...dev.map(readRootTime))).toBeLessThanOrEqual(Math.min(...test.map(readRootTime)));
    const trees = { dev: new Set<string>(), test: new Set<string>() };
    for (const query of dataset.queries) {
      expect(query.split).toBe(dataset.devConversations.has(query.cluster) ? 'dev' : 'test');
      trees[query.split].add(query.cluster);
    }
    expect([trees.dev.size, trees.test.size]).toEqual([366, 158]);
  });

  it('leaves newest first where the docs say', () => {
    let [reciprocal, found, inList, foundInList] = [0, 0, 0, 0];
    for (const query of dataset.queries) {
      const later = dataset.corpus.turns.slice(
        dataset.corpus.getPosition(findAnsweredTurn(query).id),
        dataset.corpus.countEarlierTurns(query.timestamp),
      );
      const rank = later.length;
      const listRank =
        findAnsweredTurn(query).channel === query.channel
          ? later.filter((turn) => turn.channel === query.channel).length
          : Number.POSITIVE_INFINITY;
      if (rank <= 10) [reciprocal, found] = [reciprocal + 1 / rank, found + 1];
      if (listRank <= 10) [inList, foundInList] = [inList + 1 / listRank, foundInList + 1];
    }
    const rounded = [reciprocal, found, inList, foundInList].map((sum) => (sum / dataset.queries.length).toFixed(3));
    expect(rounded).toEqual(['0.344', '0.689', '0.537', '0.878']);
  });

  it('is the same from its cache', async () => {
    const [file] = readdirSync(cacheFolder);
    expect(readFileSync(join(cacheFolder, file as string), 'utf8')).not.toMatch(/[\w.+-]+@[\w-]+\.\w+/);
    const again = await loadSpamAssassinThreads({ cacheFolder });
    expect(again.hash).toBe(dataset.hash);
    expect(again).toEqual(dataset);
    expect(readdirSync(cacheFolder)).toEqual([file]);
  });
});

/** Mails that the contract goes through: each of its tests prepares all of them again. */
const FIRST = 997;

describe('the first mails of the archive', () => {
  let mails: ReadonlyMap<string, DatedMail>;
  /** Message ids by time, where no other mail has the same. */
  const ids = new Map<number, string>();
  beforeAll(async () => {
    mails = await readMails(readHamMails(findMailArchive()).slice(0, FIRST), new Counts(), ignoreProgress);
    const shared = new Set<number>();
    for (const { id, time } of mails.values()) {
      if (ids.has(time)) shared.add(time);
      ids.set(time, id);
    }
    for (const time of shared) ids.delete(time);
  });

  const build = (read: ReadonlyMap<string, DatedMail>) =>
    buildMailDataset(
      { name: 'spamassassin-threads', licence: SPAM_ASSASSIN_LICENCE },
      prepareRead(read, 'time', new Counts(), ignoreProgress),
    );

  let corpus: Corpus;
  const load = async () => {
    const dataset = build(mails);
    corpus = dataset.corpus;
    return dataset;
  };

  describeDataset('spamassassin-threads', load, {
    reassigned: async (answers) => {
      const findTurnMessageId = (turnId: string) => ids.get(corpus.getTurn(turnId).timestamp) as string;
      const changed = new Map(mails);
      for (const [queryId, turnId] of answers) {
        const mail = mails.get(findTurnMessageId(queryId.slice('q-'.length))) as DatedMail;
        changed.set(mail.id, { ...mail, inReplyTo: [findTurnMessageId(turnId)], references: [] });
      }
      return build(changed);
    },
    mayAnswer: (turn, query) =>
      ids.has(turn.timestamp) && ids.has(query.timestamp) && listWordTokens(turn.text).length >= 5,
  });
});
