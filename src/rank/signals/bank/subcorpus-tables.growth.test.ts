import { expect, test } from 'vitest';
import { createRandom } from '../../../core/numbers/random.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { SIGNAL_GROUPS, type SignalGroup } from './options.ts';
import { SPREAD } from './sessions.ts';
import { SubcorpusTables } from './subcorpus-tables.ts';
import { drawSampleThreads } from './threads.fixture.ts';

const AUTHORS = ['ann', 'eli', 'nobody'];

function describeThreads({ threads, corpus }: SubcorpusTables, cutoff: number) {
  return Array.from({ length: cutoff }, (_, position) => [
    threads.depth[position],
    threads.countThreadTurns(position, cutoff),
    threads.findNewestBefore(position, cutoff),
    threads.countChildrenBefore(position, cutoff),
    threads.countSpeakers(position, cutoff),
    ...AUTHORS.map((author) => threads.hasSpoken(author, position, cutoff)),
    ...AUTHORS.map((author) => threads.isAnsweredBy(author, position, cutoff)),
    corpus.turns[position]?.id,
  ]);
}

function describeRanks({ ranks }: SubcorpusTables, cutoff: number) {
  return [
    ...[undefined, null, 'list', 'chat', 'none'].map((channel) => [...ranks.rankSessions(cutoff, channel)]),
    Array.from({ length: cutoff }, (_, position) => ranks.countChannelTurnsAfter(position, cutoff)),
  ];
}

function describeScores({ text, spread }: SubcorpusTables, asked: string, cutoff: number) {
  return Array.from(text.scoreDocuments(asked, cutoff), ({ name, of, scores }) => {
    const values = new Float32Array(cutoff * SPREAD.length);
    const out = { values, start: 0, stride: SPREAD.length, column: 0 };
    if (of === 'turns')
      spread.write(
        scores,
        cutoff,
        Int32Array.from({ length: cutoff }, (_, i) => i),
        out,
      );
    return { name, of, scores: [...scores], spread: [...values] };
  });
}

/** Everything that signals read, as of some cutoffs. */
function describeTables(tables: SubcorpusTables, groups: readonly SignalGroup[], asked: string, cutoffs: number[]) {
  const { sessions, authors, words, corpus } = tables;
  const { length, question, answer, number, times, names, entities } = tables.forms;
  return {
    size: corpus.size,
    sessions: [sessions.sessionOf, sessions.stepOf, sessions.firsts].map((values) => [...values]),
    members: sessions.members.map((turns) => [...turns]),
    words: [...words],
    forms: [length, question, answer, number, times, names].map((values) => [...values]),
    entities: [...entities],
    moments: cutoffs.map((cutoff) => ({
      named: AUTHORS.map((name) => [authors.findNamedAuthors(name, cutoff), authors.without(`${name}'s`, cutoff)]),
      threads: describeThreads(tables, cutoff),
      ranks: describeRanks(tables, cutoff),
      scores: groups.includes('text') ? describeScores(tables, asked, cutoff) : [],
    })),
  };
}

/** True where the turns before a position are all earlier, so that they are a corpus. */
const isMoment = (turns: readonly Turn[], position: number) =>
  position === 0 || position === turns.length || turns[position - 1]!.timestamp < turns[position]!.timestamp;

test.each([
  [1, 0, SIGNAL_GROUPS],
  [2, 1, SIGNAL_GROUPS],
  [3, 20, SIGNAL_GROUPS],
  [4, 0, ['text', 'form', 'time'] as const],
])('tables that grew are those of all turns: seed %i, from turn %i', async (seed, start, groups) => {
  const { turns: drawn, queries } = drawSampleThreads(seed, 67);
  const { turns } = new Corpus(drawn);
  const source = createRandom(seed, 'growth');
  let corpus: Corpus | undefined;
  let tables: SubcorpusTables | undefined;
  let steps = 0;
  for (let size = start; size <= turns.length; size++) {
    if (!isMoment(turns, size) || (size > start && size < turns.length && source.uniform() < 0.5)) continue;
    corpus = new Corpus(turns.slice(corpus?.size ?? 0, size), corpus && { after: corpus });
    tables = await SubcorpusTables.of(corpus, groups, tables);
    const fresh = await SubcorpusTables.of(new Corpus(turns.slice(0, size)), groups);
    const { text } = queries[source.integer(queries.length)]!;
    const cutoffs = [size, source.integer(size + 1), source.integer(size + 1), size];
    expect(describeTables(tables, groups, text, cutoffs)).toEqual(describeTables(fresh, groups, text, cutoffs));
    steps++;
  }
  expect(tables?.corpus.size).toBe(67);
  expect(steps).toBeGreaterThan(9);
});
