import type { Query, Split } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { type Counts, UNKNOWN_TURNS } from '../prepared/counts.ts';
import type { LocomoCategory } from '../prepared/datasets.ts';
import type { Judgement } from '../prepared/prepared.ts';
import { repairEvidence } from './locomo-evidence.ts';
import type { LocomoSample } from './locomo-schema.ts';
import type { LocomoConversation } from './locomo-turns.ts';

/** The grade of a turn that a question's evidence names. */
export const EVIDENCE = 1;

/** The questions of a sample that become queries, in the order of the file, with their judgements. */
interface AskedQuestions {
  readonly queries: readonly Query[];
  readonly judgements: readonly Judgement[];
}

/** The questions of the categories that have evidence, asked after the last turn. Their ids contain their index among all questions of the sample, from 0. */
export function buildLocomoQueries(
  sample: LocomoSample,
  { turns, byKey }: LocomoConversation,
  {
    categories,
    chooseSplit,
  }: { readonly categories: readonly LocomoCategory[]; readonly chooseSplit: (questionId: string) => Split },
  counts: Counts,
): AskedQuestions {
  const end = (turns.at(-1) as Turn).timestamp + 1;
  const asked = sample.questions
    .map((question, i) => ({ ...question, id: `${sample.id}/q${i}`, ...repairEvidence(question.evidence, byKey) }))
    .filter(({ category }) => categories.includes(category));
  const answered = asked.filter(({ turnIds }) => turnIds.length > 0);
  counts.add('left out: questions of other categories', sample.questions.length - asked.length);
  counts.add('left out: questions without evidence', asked.length - answered.length);
  for (const { unknown, empty } of asked) {
    counts.add(UNKNOWN_TURNS.locomo, unknown);
    counts.add('evidence without a dialogue id', empty);
  }
  const queries = answered.map(
    ({ id, text, category }): Query => ({
      id,
      text,
      timestamp: end,
      anchorTurnId: null,
      author: null,
      channel: null,
      conversationId: sample.id,
      kind: category,
      split: chooseSplit(id),
      cluster: sample.id,
    }),
  );
  const judgements = answered.flatMap(({ id, turnIds }) =>
    turnIds.map((turnId) => ({ queryId: id, turnId, grade: EVIDENCE })),
  );
  return { queries, judgements };
}
