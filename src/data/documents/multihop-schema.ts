import { z } from 'zod';
import { id } from '../jsonl/id-schema.ts';

const filled = z.string().refine((value) => value.trim() !== '', 'a text that is not empty');
const sentences = z.array(z.string());

/** A passage by what it is recognised by. */
export interface Passage {
  readonly title: string;
  readonly text: string;
}

/** A question with the passages that its answer takes together. */
export interface MultihopQuestion {
  readonly id: string;
  readonly text: string;
  /** The source, and its sort of question. */
  readonly kind: string;
  readonly support: readonly Passage[];
  /** Titles that support the answer, of which the question has no text. */
  readonly unknown: readonly string[];
}

/** MuSiQue: paragraphs, each supporting or not. Its ids start with the number of hops. */
const musiqueQuestion = z
  .object({
    id,
    question: filled,
    paragraphs: z.array(z.object({ title: z.string(), paragraph_text: z.string(), is_supporting: z.boolean() })),
  })
  .transform(({ id: own, question, paragraphs }): MultihopQuestion => {
    const hops = /^(\d+)hop/.exec(own)?.[1];
    const support = paragraphs.filter(({ is_supporting }) => is_supporting);
    return {
      id: own,
      text: question,
      kind: hops === undefined ? 'musique' : `musique, ${hops} hops`,
      support: support.map(({ title, paragraph_text }) => ({ title, text: paragraph_text })),
      unknown: [],
    };
  });

/** HotpotQA: titles with sentences, and the sentences that support the answer, by title and number. */
const hotpotQuestion = z
  .object({
    _id: id,
    question: filled,
    type: filled.optional(),
    supporting_facts: z.array(z.tuple([z.string(), z.number()])),
    context: z.array(z.tuple([z.string(), sentences])),
  })
  .transform(({ _id, question, type, supporting_facts, context }): MultihopQuestion => {
    const titles = new Set(supporting_facts.map(([title]) => title));
    const support = context.filter(([title]) => titles.has(title));
    for (const [title] of context) titles.delete(title);
    return {
      id: _id,
      text: question,
      kind: type === undefined ? 'hotpotqa' : `hotpotqa, ${type}`,
      support: support.map(([title, parts]) => ({ title, text: parts.join('') })),
      unknown: [...titles],
    };
  });

/** The questions of a file: of HotpotQA if they have supporting facts, else of MuSiQue. */
export const multihopQuestions = z.array(
  z.unknown().transform((input, context): MultihopQuestion => {
    const isHotpot = typeof input === 'object' && input !== null && 'supporting_facts' in input;
    const { data, error } = (isHotpot ? hotpotQuestion : musiqueQuestion).safeParse(input);
    if (data !== undefined) return data;
    for (const issue of error.issues) context.addIssue({ ...issue } as never);
    return z.NEVER;
  }),
);

const passageList = z.array(z.object({ title: z.string(), text: z.string() }));
const passagesByTitle = z
  .record(z.string(), sentences)
  .transform((record) => Object.entries(record).map(([title, parts]): Passage => ({ title, text: parts.join('') })));

/** The passages of a file: a list with titles and texts, or sentences by title. */
export const multihopPassages = z.unknown().transform((input, context): readonly Passage[] => {
  const { data, error } = (Array.isArray(input) ? passageList : passagesByTitle).safeParse(input);
  if (data !== undefined) return data;
  for (const issue of error.issues) context.addIssue({ ...issue } as never);
  return z.NEVER;
});
