/** What a question asks for, and what it and a turn speak of: times, names, numbers. */

export { entitiesOf, entityOverlap } from './entities.ts';
export { type QuestionKind, questionKind } from './question-kind.ts';
export { countTimeExpressions, timeRanges } from './time-expressions.ts';
export type { TimeRange } from './time-range.ts';
