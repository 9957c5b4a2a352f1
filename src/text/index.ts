/** What a text contains, without vectors: tokens, kinds of terms, named things, time expressions, the kind of a question. */

export { entitiesOf, entityOverlap } from './entities.ts';
export { type QuestionKind, questionKind } from './question-kind.ts';
export { TERM_KINDS, type TermKind } from './term-kinds.ts';
export { countTimeExpressions, timeRanges } from './time-expressions.ts';
export type { TimeRange } from './time-range.ts';
export { createTokeniser, type Tokeniser, type TokenOptions } from './tokens.ts';
