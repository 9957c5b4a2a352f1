/** What a text contains, without vectors: tokens, kinds of terms, named things, time expressions, the kind of a question. */

export { type ConceptKind, type ConceptMention, findConcepts, normaliseForm } from './concepts.ts';
export { listContentStems, listSharedContentStems } from './content-words.ts';
export {
  type ComparedText,
  type CuratedText,
  type CurationDecision,
  type CurationOperation,
  type CurationRuleOptions,
  curationRuleOptions,
  decideByRules,
  readCuratedText,
} from './curation-rules.ts';
export { computeEntityOverlap, findEntities } from './entities.ts';
export { classifyQuestion, type QuestionKind } from './question-kind.ts';
export { TERM_KINDS, type TermKind } from './term-kinds.ts';
export type { TimeRange } from './times/calendar.ts';
export { countTimeExpressions, timeRanges } from './times/time-expressions.ts';
export { TOKEN_COUNTERS, type TokenCounterName } from './token-counter-names.ts';
export { type CountTokens, createTokenCounter } from './token-counts.ts';
export { createTokeniser, type Tokeniser, type TokenOptions } from './tokens.ts';
