import { type AskedQuery, readAskedQuery } from './asked-query.ts';
import type { CosineRows } from './cosine-rows.ts';
import type { SignalGroup } from './options.ts';
import { PAIR_SIGNALS, type PairGroup } from './pair-signals.ts';
import type { QueryRows } from './query-rows.ts';
import { RANK_SIGNALS } from './session-ranks.ts';
import { countBegunSessions } from './sessions.ts';
import type { SubcorpusTables } from './subcorpus-tables.ts';

/** Fills in what the turns of a subcorpus say about its queries: all signals but those of structure and products. */
export class SubcorpusSignals {
  readonly #tables: SubcorpusTables;
  readonly #groups: ReadonlySet<SignalGroup>;

  constructor(tables: SubcorpusTables, groups: readonly SignalGroup[]) {
    this.#tables = tables;
    this.#groups = new Set(groups);
  }

  /**
   * @param cutoff turns of the subcorpus that are earlier than the query
   * @param cosines the rows of cosines that hold the query, by signal, and its place in them
   */
  fill(
    rows: QueryRows,
    query: AskedQuery['query'],
    cutoff: number,
    cosines: ReadonlyMap<string, CosineRows>,
    queryIndex: number,
  ): void {
    const asked = readAskedQuery(query, cutoff, this.#tables.authors);
    if (this.#groups.has('text')) {
      this.#fillText(rows, asked);
      this.#fillCosines(rows, asked, cosines, queryIndex);
    }
    for (const group of Object.keys(PAIR_SIGNALS) as PairGroup[])
      if (this.#groups.has(group)) this.#fillPairs(rows, asked, group);
    if (this.#groups.has('time')) this.#fillSessionRanks(rows, RANK_SIGNALS.sessions, asked);
    if (this.#groups.has('channel')) this.#fillChannelRanks(rows, asked);
  }

  #fillText(rows: QueryRows, { query, cutoff }: AskedQuery): void {
    const { text, spread, sessions } = this.#tables;
    for (const { name, of, scores } of text.scoreDocuments(query.text, cutoff)) {
      const findDocument = (position: number) =>
        of === 'sessions' ? (sessions.sessionOf[position] as number) : position;
      if (of === 'turns') rows.spread(name, spread, scores, cutoff);
      else rows.write(name, (position) => scores[findDocument(position)] as number);
    }
  }

  #fillCosines(
    rows: QueryRows,
    { cutoff }: AskedQuery,
    cosines: ReadonlyMap<string, CosineRows>,
    queryIndex: number,
  ): void {
    const scores = new Float64Array(this.#tables.corpus.size);
    for (const [name, encoder] of cosines) {
      encoder.copy(queryIndex, scores);
      rows.spread(name, this.#tables.spread, scores, cutoff);
    }
  }

  #fillPairs(rows: QueryRows, asked: AskedQuery, group: PairGroup): void {
    for (const [name, { score }] of Object.entries(PAIR_SIGNALS[group]))
      rows.write(name, (position) => score(asked, position, this.#tables));
  }

  /** @param channel of which the sessions are ranked; all of them where it is left out. */
  #fillSessionRanks(
    rows: QueryRows,
    { newest, rank }: typeof RANK_SIGNALS.sessions | typeof RANK_SIGNALS.channelSessions,
    { cutoff }: AskedQuery,
    channel?: string | null,
  ): void {
    const { ranks, sessions } = this.#tables;
    const ranked = ranks.rankSessions(cutoff, channel);
    const readSessionRank = (position: number) => ranked[sessions.sessionOf[position] as number] as number;
    const unranked = countBegunSessions(sessions, cutoff);
    rows.write(newest.name, (position) => (readSessionRank(position) < 0 ? 0 : 1 / (1 + readSessionRank(position))));
    rows.write(rank.name, (position) =>
      Math.log1p(readSessionRank(position) < 0 ? unranked : readSessionRank(position)),
    );
  }

  #fillChannelRanks(rows: QueryRows, asked: AskedQuery): void {
    const { ranks } = this.#tables;
    const { channelTurns: turns, channelSessions: sessions } = RANK_SIGNALS;
    rows.write(turns.newest.name, (position) => 1 / (1 + ranks.countChannelTurnsAfter(position, asked.cutoff)));
    rows.write(turns.rank.name, (position) => Math.log1p(ranks.countChannelTurnsAfter(position, asked.cutoff)));
    this.#fillSessionRanks(rows, sessions, asked, asked.query.channel);
  }
}
