import { ConservationStream } from '../../src/conservation/conservation-stream.ts';
import { rowOf } from '../../src/core/rows.ts';
import type { MeasuredCorpus } from './measured-corpus.ts';
import type { Salience } from './salience.ts';

/** What adding messages one after the other, none ever leaving, does to information. */
export interface InformationFalls {
  readonly salience: string;
  readonly memory: string;
  /** Additions to a memory that held something. */
  readonly additions: number;
  readonly falls: number;
  /** The greatest fall, in nats; 0 where there is none. */
  readonly greatest: number;
}

/** A smaller fall is rounding: what a stream's figures are good for. */
const ROUNDING = 1e-9;

function fallsOf(
  { embeddings, dimension }: MeasuredCorpus,
  memories: readonly Iterable<number>[],
  salience: Salience,
  memory: string,
): InformationFalls {
  let [additions, falls, greatest] = [0, 0, 0];
  for (const positions of memories) {
    const stream = new ConservationStream(dimension);
    let before = 0;
    for (const position of positions) {
      stream.add(String(position), rowOf(embeddings, dimension, position), salience.of(position));
      const after = stream.metrics().information;
      if (stream.size > 1) additions++;
      if (before - after > ROUNDING) falls++;
      greatest = Math.max(greatest, before - after);
      before = after;
    }
  }
  return { salience: salience.name, memory, additions, falls, greatest: falls === 0 ? 0 : greatest };
}

/** How often information falls when a message comes in: with a memory for each thread, and with one for the whole corpus. */
export function informationFalls(measured: MeasuredCorpus, saliences: readonly Salience[]): InformationFalls[] {
  const everything = measured.corpus.turns.keys();
  const corpus = [[...everything]];
  return saliences.flatMap((salience) => [
    fallsOf(measured, measured.conversations, salience, 'each thread'),
    fallsOf(measured, corpus, salience, 'the whole corpus'),
  ]);
}
