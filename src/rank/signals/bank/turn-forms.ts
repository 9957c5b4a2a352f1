import { createEventBreaks } from '../../../core/values/event-loop.ts';
import { findEntities } from '../../../model/text/entities.ts';
import { countTimeExpressions } from '../../../model/text/times/time-expressions.ts';
import { createTokeniser } from '../../../model/text/tokens.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import { findNeighbour, type Sessions } from './sessions.ts';

/** The query-independent features of each turn. [N] each. */
export interface TurnForms {
  /** ln(1 + words). */
  readonly length: Float32Array;
  /** 1 where it asks. */
  readonly question: Float32Array;
  /** 1 where the turn before it in its session asks; where authors may be looked at, only if that is somebody else's. */
  readonly answer: Float32Array;
  /** 1 where it holds a digit. */
  readonly number: Float32Array;
  /** ln(1 + time expressions). */
  readonly times: Float32Array;
  /** ln(1 + named things). */
  readonly names: Float32Array;
  readonly entities: readonly ReadonlySet<string>[];
}

/** @param options.author whether it may be looked at who speaks. */
export async function readTurnForms(
  corpus: Corpus,
  sessions: Sessions,
  options: { readonly author: boolean },
): Promise<TurnForms> {
  const tokenise = createTokeniser({ dropStopWords: false, stem: false });
  const { turns } = corpus;
  const allocateColumn = () => new Float32Array(turns.length);
  const forms = {
    length: allocateColumn(),
    question: allocateColumn(),
    number: allocateColumn(),
    times: allocateColumn(),
    names: allocateColumn(),
  };
  const entities: ReadonlySet<string>[] = [];
  const pause = createEventBreaks();
  for (const [position, { text, timestamp }] of turns.entries()) {
    const named = findEntities(text);
    entities.push(named);
    forms.length[position] = Math.log1p(tokenise(text).length);
    forms.question[position] = text.includes('?') ? 1 : 0;
    forms.number[position] = /\p{N}/u.test(text) ? 1 : 0;
    forms.times[position] = Math.log1p(countTimeExpressions(text, timestamp));
    forms.names[position] = Math.log1p(named.size);
    await pause();
  }
  const isOwn = (a: number, b: number) => options.author && turns[a]?.author === turns[b]?.author;
  const answer = Float32Array.from(turns.keys(), (position) => {
    const before = findNeighbour(sessions, position, -1);
    return before >= 0 && !isOwn(before, position) ? (forms.question[before] as number) : 0;
  });
  return { ...forms, answer, entities };
}
