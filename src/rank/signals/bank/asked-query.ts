import type { Query } from '../../../model/dataset.ts';
import { findEntities } from '../../../model/text/entities.ts';
import { timeRanges } from '../../../model/text/times/time-expressions.ts';
import { type AuthorNames, listCallNames } from './author-names.ts';

/** The kind of answer that a question asks for. */
export type QuestionKind = 'time' | 'number' | 'person-or-place' | 'other';

const AUXILIARY =
  "(?:did|do|does|is|are|was|were|has|have|had|will|would|can|could|should|might|may|must|shall|'s|'d|'ll|'re|'ve)";
const HEADS: readonly (readonly [Exclude<QuestionKind, 'other'>, string])[] = [
  ['time', 'time|date|day|weekday|week|weekend|month|season|year|decade|century|hour|birthday|anniversary'],
  ['number', 'number|percentage|percent|amount|count|age|price|cost|distance|duration|score|salary|frequency'],
  [
    'person-or-place',
    'person|people|man|woman|child|friends?|author|writer|artist|singer|band|actor|actress|musician|president|team|' +
      'country|countries|state|city|cities|town|village|place|location|address|street|park|beach|island|continent|region',
  ],
];

/** `what year`, `which European country`, `what is the exact date`: one word may be between, but not `kind of`. */
const buildHeadedPattern = (nouns: string) =>
  new RegExp(
    `^(?:what|which)(?:(?:'s| is| are| was| were) (?:the|his|her|their|your|my|its))?(?: (?!kind|type|sort)[\\w-]+)?` +
      ` (?:${nouns})s?(?![\\w-])`,
  );

const KINDS: readonly (readonly [QuestionKind, RegExp])[] = [
  ['time', /^(?:when\b|how (?:long|soon|recently|early|late)\b)/],
  ['number', /^how (?:many|much|often|frequently|old|far|tall|high|big|large|heavy|fast|deep)\b/],
  ['person-or-place', /^(?:who|whom|whose|where)\b/],
  ...HEADS.map(([kind, nouns]) => [kind, buildHeadedPattern(nouns)] as const),
];

const INTERROGATIVE = /\b(?:when|where|who|whom|whose|what|which|how|why)\b/g;
/** `when` and `where` before a subject only join clauses: `what did she do when he came`. */
const JOINS = new RegExp(`^(?:when|where)(?! ?${AUXILIARY}\\b| (?:and|or)\\b)`);

/**
 * The kind of answer that an English question asks for: `time` (when, how long, what year), `number` (how many, how
 * often, what amount), `person-or-place` (who, whose, where, which city), else `other`. The first interrogative that
 * does not only join clauses decides.
 */
export function classifyQuestion(text: string): QuestionKind {
  const words = text.toLowerCase().replaceAll('’', "'").replaceAll(/\s+/g, ' ');
  const asked = [...words.matchAll(INTERROGATIVE)].map(({ index }) => words.slice(index));
  const question = asked.find((rest) => !JOINS.test(rest)) ?? asked[0];
  if (question === undefined) return 'other';
  return KINDS.find(([, expression]) => expression.test(question))?.[0] ?? 'other';
}

/** A query as the signals see it. */
export interface AskedQuery {
  readonly query: Query;
  /** Turns of its subcorpus that there are. */
  readonly cutoff: number;
  readonly kind: QuestionKind;
  readonly entities: ReadonlySet<string>;
  /** The times that it names, in milliseconds, half open. */
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
  /** Authors of the subcorpus whom it names. */
  readonly named: ReadonlySet<string>;
  /** What the asker is called by; empty where nobody knows who asks. */
  readonly askerNames: readonly string[];
}

/** @param authors of the subcorpus. */
export function readAskedQuery(query: Query, cutoff: number, authors: AuthorNames): AskedQuery {
  return {
    query,
    cutoff,
    kind: classifyQuestion(query.text),
    entities: findEntities(query.text),
    ranges: timeRanges(query.text, query.timestamp),
    named: authors.findNamedAuthors(query.text, cutoff),
    askerNames: query.author === null ? [] : listCallNames(query.author),
  };
}
