import type { ShowableText } from '../../../core/display/showable-text.ts';
import type { ExperimentResult, TurnRecord } from '../../measure/result.ts';

/** [T] each. Authors, channels and conversations are positions in `names`; -1 stands for nothing. */
export interface TurnColumns {
  readonly names: readonly string[];
  readonly id: readonly string[];
  readonly conversation: readonly number[];
  readonly parent: readonly number[];
  readonly timestamp: readonly number[];
  readonly author: readonly number[];
  readonly channel: readonly number[];
  readonly text: readonly ShowableText[];
}

/** The turns that the page shows: those that an inspected arm ranks, and every conversation of a judged turn or of a query. In their order. */
export function selectShownTurns(
  { arms, queries, dataset }: ExperimentResult,
  inspected: ReadonlySet<string>,
): TurnRecord[] {
  const ids = new Set<string>();
  for (const { name, rankings } of arms)
    if (inspected.has(name)) for (const ranking of rankings) for (const { id } of ranking) ids.add(id);
  const related = new Set<string | null>();
  for (const { turnId, judgements } of queries) {
    related.add(turnId);
    for (const id of Object.keys(judgements)) related.add(id);
  }
  const conversations = new Set(
    dataset.turns.filter(({ id }) => related.has(id)).map(({ conversationId }) => conversationId),
  );
  conversations.delete(''); // of documents without one
  return dataset.turns.filter(({ id, conversationId }) => ids.has(id) || conversations.has(conversationId));
}

/** @param positions of the turns by id. */
export function packTurnColumns(turns: readonly TurnRecord[], positions: ReadonlyMap<string, number>): TurnColumns {
  const names = new Map<string, number>();
  const assignNameIndex = (name: string | null): number => {
    if (name === null) return -1;
    if (!names.has(name)) names.set(name, names.size);
    return names.get(name) as number;
  };
  const columns = {
    id: turns.map((turn) => turn.id),
    conversation: turns.map((turn) => assignNameIndex(turn.conversationId)),
    parent: turns.map(({ parentId }) => (parentId === null ? -1 : (positions.get(parentId) ?? -1))),
    timestamp: turns.map((turn) => turn.timestamp),
    author: turns.map((turn) => assignNameIndex(turn.author)),
    channel: turns.map((turn) => assignNameIndex(turn.channel)),
    text: turns.map((turn) => turn.text),
  };
  return { names: [...names.keys()], ...columns };
}
