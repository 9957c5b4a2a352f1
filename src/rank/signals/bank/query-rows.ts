import { ValidationError } from '../../../core/errors/errors.ts';
import type { Query } from '../../../model/dataset.ts';
import { findEntities } from '../../../model/text/entities.ts';
import { timeRanges } from '../../../model/text/times/time-expressions.ts';
import type { Spread } from './sessions.ts';
import { type AuthorNames, listCallNames } from './turn-forms.ts';

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
  /** The names of the asker; empty where nobody knows who asks. */
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

/** A table of signals that is being filled, [Q, C, F]. */
export interface TableColumns {
  readonly values: Float32Array;
  /** F columns by name. */
  readonly columns: ReadonlyMap<string, number>;
}

/** Where one query's signals go: the rows of its candidates in a table. Rows of padding stay as they are. */
export class QueryRows {
  /** [C] in the query's subcorpus, -1 for padding. */
  readonly positions: Int32Array;
  readonly #values: Float32Array;
  readonly #columns: ReadonlyMap<string, number>;
  /** Where the first candidate's row begins. */
  readonly #start: number;

  /** @param query index of its rows in the table. */
  constructor({ values, columns }: TableColumns, query: number, positions: Int32Array) {
    this.positions = positions;
    this.#values = values;
    this.#columns = columns;
    this.#start = query * positions.length * columns.size;
  }

  #findColumn(name: string): number {
    const column = this.#columns.get(name);
    if (column === undefined)
      throw new ValidationError(`signal table has no column: ${name}; name one of its columns`, { name });
    return column;
  }

  /** Fills a column: with a value for each candidate, by its position in the subcorpus and its slot in the pool's row. */
  write(name: string, value: (position: number, slot: number) => number): void {
    const { positions } = this;
    let at = this.#start + this.#findColumn(name);
    for (let slot = 0; slot < positions.length; slot++, at += this.#columns.size) {
      const position = positions[slot] as number;
      if (position >= 0) this.#values[at] = value(position, slot);
    }
  }

  /** Fills the adjacent columns of a score that is spread. */
  spread(name: string, spread: Spread, scores: Float64Array, cutoff: number): void {
    const out = {
      values: this.#values,
      start: this.#start,
      stride: this.#columns.size,
      column: this.#findColumn(name),
    };
    spread.write(scores, cutoff, this.positions, out);
  }

  /** Fills a column with the product of two that have been filled. */
  multiply(name: string, [a, b]: readonly [string, string]): void {
    const [first, second] = [this.#start + this.#findColumn(a), this.#start + this.#findColumn(b)];
    const stride = this.#columns.size;
    const readColumnValue = (at: number) => this.#values[at] as number;
    this.write(name, (_, slot) => readColumnValue(first + slot * stride) * readColumnValue(second + slot * stride));
  }
}
