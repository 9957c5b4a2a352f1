import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { describeData } from '../prepared/data-folder.harness.ts';
import { type SampleLog, writeIrcSample } from './irc.fixture.ts';
import { loadIrc } from './irc.ts';

const paths: string[] = [];
afterAll(() => {
  for (const path of paths) rmSync(path, { recursive: true });
});

function writeLogs(logs: Readonly<Record<string, SampleLog>>): string {
  const path = writeIrcSample(logs);
  paths.push(path);
  return path;
}

const EGGS: SampleLog = {
  said: ['[05:00] <ana> how many eggs?', '[05:00] <bea> ana: four', '[05:01] <cem> five, why?'],
  links: ['1000 1000', '1000 1001', '1000 1002', '1001 1002'],
};
const MILK: SampleLog = { said: ['[05:00] <dan> milk?', '[05:02] <eve> no'], links: ['1000 1001'] };

const LOGS = { 'train/2005-06-27.train-a': EGGS, 'dev/2004-11-15_03': MILK, 'test/2005-07-06_14': MILK };

/** The links of a log with other ones for the messages that answer something else. @param answers by line */
function relinkLog({ said, links }: SampleLog, answers: ReadonlyMap<number, number>): SampleLog {
  const kept = links.filter((link) => !answers.has(Number(link.split(' ')[1])));
  return { said, links: [...kept, ...[...answers].map(([line, answered]) => `${answered} ${line}`)] };
}

const parseLineNumber = (turnId: string) => Number(turnId.slice(turnId.lastIndexOf(':') + 1));

describe('a folder of logs', () => {
  const path = writeLogs(LOGS);

  describeDataset('irc', () => loadIrc({ path }), {
    reassigned: (answers) => {
      const listAnswersIn = (place: string) =>
        [...answers].filter(([queryId]) => queryId.startsWith(`q-${place.split('/')[1]}:`));
      const logs = Object.entries(LOGS).map(([place, log]): [string, SampleLog] => {
        const lines = listAnswersIn(place).map(([queryId, turnId]): [number, number] => [
          parseLineNumber(queryId),
          parseLineNumber(turnId),
        ]);
        return [place, relinkLog(log, new Map(lines))];
      });
      return loadIrc({ path: writeLogs(Object.fromEntries(logs)) });
    },
    mayAnswer: (turn, query) => turn.channel === query.channel,
  });

  it('is for development where it was for training, else for test', async () => {
    const dataset = await loadIrc({ path });
    expect(dataset.queries.map(({ id, split }) => [id, split])).toEqual([
      ['q-2004-11-15_03:1001', 'test'],
      ['q-2005-06-27.train-a:1001', 'dev'],
      ['q-2005-06-27.train-a:1002', 'dev'],
      ['q-2005-07-06_14:1001', 'test'],
    ]);
    expect(dataset.devConversations.size).toBe(901);
    for (const id of dataset.devConversations) expect(id).toMatch(/^t-2005-06-27\.train-a:\d{4}$/);
  });

  it('is counted', async () => {
    expect((await loadIrc({ path })).facts).toEqual({
      logs: 3,
      'lines read': 3007,
      'skipped: system lines': 300,
      'skipped: unreadable lines': 0,
      'skipped: messages without a text': 0,
      'links to an earlier line': 5,
      'texts with undecodable characters': 0,
      messages: 2707,
      'messages that answer several': 1,
      authors: 12,
      'trees of two or more messages': 3,
      'messages in trees of two or more': 7,
      queries: 4,
      'queries, dev': 2,
      'queries, test': 2,
    });
  });

  it('has another hash where a link is another', async () => {
    const other = writeLogs({
      'train/2005-06-27.train-a': { ...EGGS, links: ['1000 1001', '1000 1002'] },
      'dev/2004-11-15_03': MILK,
      'test/2005-07-06_14': MILK,
    });
    expect((await loadIrc({ path: other })).hash).not.toBe((await loadIrc({ path })).hash);
  });
});

describe('what is missing', () => {
  it.each([
    [{ 'dev/2004-11-15_03': MILK }, 'no .ascii.txt file in folder train of: '],
    [{ 'train/2004-11-15_03': MILK }, 'no .ascii.txt file in folder dev or test of: '],
  ])('is named: %#', async (logs, message) => {
    const path = writeLogs(logs);
    const error = await loadIrc({ path }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toBe(`${message}${path}; copy the folders of the source there`);
  });

  it('is named where it is a file, or the folder itself', async () => {
    const path = writeLogs({ 'train/2004-11-15_03': MILK, 'dev/2004-11-16_03': MILK });
    rmSync(join(path, 'dev', '2004-11-16_03.annotation.txt'));
    await expect(loadIrc({ path })).rejects.toThrow(StorageError);
    await expect(loadIrc({ path })).rejects.toThrow(join(path, 'dev', '2004-11-16_03.annotation.txt'));
    writeFileSync(join(path, 'dev', '2004-11-16_03.annotation.txt'), '1 1002 -');
    await expect(loadIrc({ path })).rejects.toThrow(':1: link to line 1002 of a log with 1002 lines; correct the link');
    await expect(loadIrc({ path: join(path, 'none') })).rejects.toThrow(join(path, 'none'));
  });
});

describeData('dev, and 24 logs of train', 'irc', (data) => {
  let dataset: Dataset;
  beforeAll(async () => {
    dataset = await loadIrc({ path: data });
  });

  it('has the counts that its docs tell', () => {
    expect(dataset.facts).toEqual({
      logs: 34,
      'lines read': 47_508,
      'skipped: system lines': 7256,
      'skipped: unreadable lines': 0,
      'skipped: messages without a text': 9,
      'links to an earlier line': 10_130,
      'texts with undecodable characters': 0,
      messages: 40_243,
      'messages that answer several': 280,
      authors: 3092,
      'trees of two or more messages': 999,
      'messages in trees of two or more': 10_797,
      queries: 9796,
      'queries, dev': 7767,
      'queries, test': 2029,
    });
  });

  /** 1 / rank of the first answered message among the ten newest of the log, 0 where there is none. */
  const computeReciprocalRank = ({ id, channel, timestamp }: Query): number => {
    const { corpus, qrels } = dataset;
    let rank = 0;
    for (let at = corpus.countEarlierTurns(timestamp) - 1; at >= 0 && rank < 10; at--) {
      const turn = corpus.turns[at] as Turn;
      if (turn.channel === channel) rank++;
      if (turn.channel === channel && qrels.get(id)?.get(turn.id) === 3) return 1 / rank;
    }
    return 0;
  };
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

  it.each([
    ['dev', '0.897', '0.478'],
    ['test', '0.891', '0.488'],
  ])('has an answered message among the ten newest of the log as often as the docs tell: %s', (part, found, ranked) => {
    const values = dataset.queries.filter(({ split }) => split === part).map(computeReciprocalRank);
    expect(mean(values.map(Math.sign)).toFixed(3)).toBe(found);
    expect(mean(values).toFixed(3)).toBe(ranked);
  });

  it('is as sure of them as the docs tell, by what queries are resampled by', () => {
    const test = dataset.queries.filter(({ split }) => split === 'test');
    const ranks = test.map(computeReciprocalRank);
    const estimateErrorBy = (clusterOf: (query: Query) => string) =>
      [ranks, ranks.map(Math.sign)].map((values) => {
        const sums = new Map<string, number>();
        for (const [i, query] of test.entries())
          sums.set(clusterOf(query), (sums.get(clusterOf(query)) ?? 0) + (values[i] as number) - mean(values));
        const squares = [...sums.values()].reduce((sum, value) => sum + value ** 2, 0);
        return [sums.size, (Math.sqrt((sums.size / (sums.size - 1)) * squares) / test.length).toFixed(3)];
      });
    const findTreeId = ({ turnId }: Query) => dataset.corpus.getTurn(turnId as string).conversationId;
    const formatBoth = (clusters: number, ranked: string, found: string) => [
      [clusters, ranked],
      [clusters, found],
    ];
    expect(estimateErrorBy(({ id }) => id)).toEqual(formatBoth(2029, '0.008', '0.007'));
    expect(estimateErrorBy(findTreeId)).toEqual(formatBoth(233, '0.013', '0.009'));
    expect(estimateErrorBy(({ cluster }) => cluster)).toEqual(formatBoth(10, '0.025', '0.014'));
  });
});
