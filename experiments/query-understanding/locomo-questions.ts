import { join } from 'node:path';
import { loadDataset } from '../../src/data/registry.ts';
import type { QueryTimeRange } from '../../src/model/text/times/question-times.ts';
import { understand } from '../../src/rank/query/understand.ts';
import type { StudyContext } from '../study.ts';
import { findChronoRange } from './chrono-ranges.ts';
import { computeShare, type Share } from './measures.ts';

/** What the rules find in the questions of one kind. */
export interface KindOfQuestions {
  readonly kind: string;
  readonly timeFocused: Share | null;
  /** Questions with a time range. */
  readonly ranges: Share | null;
  /** Questions whose range holds the time of a turn that answers. */
  readonly holding: Share | null;
  readonly chronoRanges: Share | null;
  readonly chronoHolding: Share | null;
}

interface RangeFindings {
  readonly isFound: boolean;
  readonly holds: boolean;
}

/** Questions of LoCoMo by kind. They are asked after the last turn, in UTC; people wrote them to ask about the dialogues, without a thought of rules. */
export async function measureLocomo(path: string, { cacheFolder, progress }: StudyContext) {
  const { queries, corpus, qrels, hash } = await loadDataset(
    { name: 'locomo', path },
    { cacheFolder: join(cacheFolder, 'datasets'), progress },
  );
  const answers: {
    readonly kind: string | undefined;
    readonly timeFocused: boolean;
    readonly ours: RangeFindings;
    readonly chronos: RangeFindings;
  }[] = [];
  for (const { id, text, timestamp, kind } of queries) {
    const times = [...(qrels.get(id)?.keys() ?? [])].map((turnId) => corpus.getTurn(turnId).timestamp);
    const { timeFocused, timeRange } = await understand(text, { timestamp, timeZone: 'UTC' });
    const compare = (range: QueryTimeRange | null): RangeFindings => ({
      isFound: range !== null,
      holds: range !== null && times.some((time) => range.start <= time && time < range.end),
    });
    const chronos = compare(findChronoRange(text, timestamp, 'UTC'));
    answers.push({ kind, timeFocused, ours: compare(timeRange), chronos });
  }
  const kinds = [...new Set(answers.map(({ kind }) => kind as string))].sort();
  const rows = kinds.map((kind): KindOfQuestions => {
    const asked = answers.filter((answer) => answer.kind === kind);
    const share = (holds: (answer: (typeof answers)[number]) => boolean) =>
      computeShare(asked.filter(holds).length, asked.length);
    return {
      kind,
      timeFocused: share(({ timeFocused }) => timeFocused),
      ranges: share(({ ours }) => ours.isFound),
      holding: share(({ ours }) => ours.holds),
      chronoRanges: share(({ chronos }) => chronos.isFound),
      chronoHolding: share(({ chronos }) => chronos.holds),
    };
  });
  return { hash, rows };
}
