/** The types that stages exchange: turns, conversations, queries, candidates, runs, judgements, and the tie rule. */

export type { CandidateIndex, Candidates, QueryBatch } from './candidates.ts';
export { Conversation, compareTurns } from './conversation.ts';
export { showThread } from './conversation-display.ts';
export { listConversationPositions } from './conversation-positions.ts';
export { Corpus } from './corpus.ts';
export type { Dataset, DatasetDeclaration, Query, Split } from './dataset.ts';
export type { EncodeOptions, Encoder, TextOwner } from './encoder.ts';
export type { Qrels, Run } from './run.ts';
export { compareBytes, compareScored, rankIdsDescending, type Scored } from './tie-rule.ts';
export type { Turn } from './turn.ts';
