import { ValidationError } from '../../core/errors/errors.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { Counts } from '../prepared/counts.ts';
import { computeTurnTimes, type LocomoSample, type LocomoTurn, parseDialogueKeys } from './locomo-schema.ts';

/** A sample as a line of turns. */
export interface LocomoConversation {
  /** In time order, each the child of the one before it; not empty. */
  readonly turns: readonly Turn[];
  /** The ids of the turns by dialogue keys such as `3:7`. */
  readonly byKey: ReadonlyMap<string, string>;
}

/** The text of the turn, and below it the caption of its picture. */
function composeTurnText({ text, blip_caption }: LocomoTurn): string {
  return [text, blip_caption]
    .map((part) => part?.trim() ?? '')
    .filter((part) => part !== '')
    .join('\n');
}

/** A turn with its time and its session. */
interface Line {
  readonly id: string;
  readonly said: LocomoTurn;
  readonly session: number;
  readonly time: number;
}

/** All turns of a sample, its sessions in the order of their times; sessions of the same time are ordered by number. */
function listSpokenLines({ id, sessions }: LocomoSample): Line[] {
  const spoken = sessions
    .map((session) => ({ ...session, turns: session.turns.filter((turn) => composeTurnText(turn) !== '') }))
    .filter((session) => session.turns.length > 0)
    .sort((a, b) => a.time - b.time || a.number - b.number);
  const times = computeTurnTimes(spoken.map(({ time, turns }) => ({ time, turns: turns.length }))).flat();
  return spoken
    .flatMap(({ number, turns }) => turns.map((said) => ({ id: `${id}/${said.dia_id}`, said, session: number })))
    .map((line, i) => ({ ...line, time: times[i] as number }));
}

/** @throws ValidationError if two turns have the same dialogue id, or without a turn. */
export function buildLocomoConversation(sample: LocomoSample, file: string, counts: Counts): LocomoConversation {
  const lines = listSpokenLines(sample);
  if (lines.length === 0)
    throw new ValidationError(`sample ${sample.id} of ${file} has no turn; remove the sample`, { file });
  const byKey = new Map<string, string>();
  for (const { id, said } of lines) {
    const key = parseDialogueKeys(said.dia_id)[0] as string;
    if (byKey.has(key))
      throw new ValidationError(
        `dialogue id is repeated in sample ${sample.id} of ${file}: ${said.dia_id}; rename one`,
        { file },
      );
    byKey.set(key, id);
  }
  const turns = lines.map(({ id, said, session, time }, i) => ({
    id,
    conversationId: sample.id,
    parentId: lines[i - 1]?.id ?? null,
    timestamp: time,
    author: said.speaker,
    channel: `${sample.id}/session_${session}`,
    text: composeTurnText(said),
  }));
  count(sample, counts);
  return { turns, byKey };
}

function count({ sessions, sparseTimes }: LocomoSample, counts: Counts): void {
  const turns = sessions.flatMap((session) => session.turns);
  const early = sessions.filter(({ time }, i) => time < (sessions[i - 1]?.time ?? Number.NEGATIVE_INFINITY));
  counts.add('sessions', sessions.length);
  counts.add('sessions without a turn', sessions.filter((session) => session.turns.length === 0).length);
  counts.add('sessions earlier than the number before theirs', early.length);
  counts.add('times without a session', sparseTimes);
  counts.add('turns with a picture', turns.filter(({ blip_caption }) => (blip_caption ?? '').trim() !== '').length);
  counts.add('skipped: turns without a text', turns.filter((turn) => composeTurnText(turn) === '').length);
}
