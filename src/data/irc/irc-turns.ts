import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { Judgement } from '../prepared/prepared.ts';
import { replyQuery, replyQueryId } from '../prepared/reply-query.ts';
import type { AnnotatedLog } from './irc-files.ts';
import { IrcThreads } from './irc-threads.ts';

/** Lines before this one are context without annotated links. */
const CONTEXT_LINES = 1000;

/** The messages of a log, and its queries. */
interface IrcTurns {
  readonly turns: readonly Turn[];
  readonly queries: readonly Query[];
  readonly judgements: readonly Judgement[];
  /** The number of messages that answer several. */
  readonly severalParents: number;
}

/**
 * Each message as a turn, in the tree of nearest parents that it belongs to as its conversation, so that no conversation tells what is said later. Each annotated
 * message that answers another as a query, whose cluster is the log.
 */
export function buildIrcTurns({ log, answers, split }: AnnotatedLog): IrcTurns {
  const lines = log.messages.map(({ line }) => line);
  const threads = new IrcThreads(lines, answers);
  const digits = String(log.lineCount - 1).length;
  const formatIrcId = (line: number) => `${log.name}:${String(line).padStart(digits, '0')}`;
  const turns = log.messages.map(({ line, timestamp, nick, text }): Turn => {
    const parent = threads.findNearestParent(line);
    return {
      id: formatIrcId(line),
      conversationId: `t-${formatIrcId(threads.findTreeRoot(line))}`,
      parentId: parent === null ? null : formatIrcId(parent),
      timestamp,
      author: nick,
      channel: log.name,
      text,
    };
  });
  const isAnswering = (line: number) => line >= CONTEXT_LINES && threads.getParents(line).direct.length > 0;
  return {
    turns,
    queries: turns.filter((_, i) => isAnswering(lines[i] as number)).map((turn) => replyQuery(turn, split, log.name)),
    judgements: lines.filter(isAnswering).flatMap((line) =>
      [...threads.gradeCandidates(line)].map(([other, grade]) => ({
        queryId: replyQueryId(formatIrcId(line)),
        turnId: formatIrcId(other),
        grade,
      })),
    ),
    severalParents: lines.filter((line) => threads.getParents(line).direct.length > 1).length,
  };
}
