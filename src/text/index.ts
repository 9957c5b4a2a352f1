/** What a text contains, without vectors: tokens, kinds of terms, named things, time expressions, the kind of a question. */

export { computeEntityOverlap, findEntities } from './entities.ts';
export { classifyQuestion, type QuestionKind } from './question-kind.ts';
export { TERM_KINDS, type TermKind } from './term-kinds.ts';
export { countTimeExpressions, timeRanges } from './time-expressions.ts';
export type { TimeRange } from './time-range.ts';
export { createTokeniser, type Tokeniser, type TokenOptions } from './tokens.ts';
