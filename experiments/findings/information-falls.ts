import { viewRow } from '../../src/core/tensors/rows.ts';
import { ConservationStream } from '../../src/ops/conservation/conservation-stream.ts';
import type { MeasuredCorpus } from './measured-corpus.ts';
import type { Salience } from './salience.ts';

/** The effect on information of adding messages one after the other, without removing any. */
export interface InformationFalls {
  readonly salience: string;
  readonly memory: string;
  /** Additions to a memory that held something. */
  readonly additions: number;
  readonly falls: number;
  /** The greatest fall, in nats; 0 without a fall. */
  readonly greatest: number;
}

/** A smaller fall is rounding error of the stream's figures. */
const ROUNDING = 1e-9;

function measureInformationFalls(
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
      stream.add(String(position), viewRow(embeddings, dimension, position), salience.of(position));
      const after = stream.computeStreamMetrics().information;
      if (stream.size > 1) additions++;
      if (before - after > ROUNDING) falls++;
      greatest = Math.max(greatest, before - after);
      before = after;
    }
  }
  return { salience: salience.name, memory, additions, falls, greatest: falls === 0 ? 0 : greatest };
}

/** The number of falls of information when a message is added: with a memory per thread, and with one for the whole corpus. */
export function listInformationFalls(measured: MeasuredCorpus, saliences: readonly Salience[]): InformationFalls[] {
  const everything = measured.corpus.turns.keys();
  const corpus = [[...everything]];
  return saliences.flatMap((salience) => [
    measureInformationFalls(measured, measured.conversations, salience, 'each thread'),
    measureInformationFalls(measured, corpus, salience, 'the whole corpus'),
  ]);
}
