import { ValidationError } from '../../../core/errors/errors.ts';
import { createChatEndpoint } from '../../../core/service/chat-request.ts';
import { type Cleared, withholdSensitive } from '../../../core/service/sendable-text.ts';
import { ignoreProgress, type StartProgress } from '../../../core/terminal/progress.ts';
import { isSensitive } from '../../../model/turns/attributes.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { readTitle } from '../list-concepts.ts';
import { type ConceptLine, listWithheldTurns } from './concept-file.ts';
import { ConceptLineWriter } from './concept-line-writer.ts';
import type { ExtractionOptions } from './extraction-options.ts';
import { requestTriples } from './extraction-requests.ts';

/** How {@link extractConcepts} goes on, and how it reports what it does. */
export interface ExtractionContext {
  /** What an earlier call extracted from the same turns, in time order. */
  readonly begun?: readonly ConceptLine[];
  /** Turns with a line in the end, those of `begun` included; all by default. */
  readonly limit?: number;
  readonly progress?: StartProgress;
  readonly signal?: AbortSignal;
  /** Gets the lines of each request, so that an interruption loses none. */
  readonly onExtracted?: (lines: readonly ConceptLine[]) => void;
}

/** What was extracted. */
export interface ExtractedConcepts {
  /** Of all turns, those of `begun` included, in time order. */
  readonly lines: readonly ConceptLine[];
  /** Turns that were not sent, see {@link listWithheldTurns}. */
  readonly withheld: number;
  /** Triples that the model gave and that have a part without a letter or with too many. */
  readonly leftOut: number;
  /** `12 requests, 5231 tokens` */
  readonly use: string;
}

/** What is sent of a turn, and what its line needs. */
interface PlacedText {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly position: number;
}

/** The turns without a line, in time order. @throws ValidationError if lines are not those of the first turns that may be sent. */
function listOpenTurns(
  turns: readonly Cleared<PlacedText>[],
  positionOf: ReadonlyMap<string, number>,
  begun: readonly ConceptLine[],
) {
  let last = -1;
  for (const { id } of begun) {
    const position = positionOf.get(id) ?? -1;
    if (position <= last)
      throw new ValidationError(`turn of the begun file is unknown or not in time order: ${id}; name another file`, {
        id,
      });
    last = position;
  }
  const done = new Set(begun.map(({ id }) => id));
  const open = turns.filter(({ id }) => !done.has(id));
  const [first] = open;
  if (first === undefined || first.position > last) return open;
  throw new ValidationError(
    `turn has no line in the begun file, which has later turns: ${first.id}; name another file`,
    { id: first.id },
  );
}

/**
 * Extracts concepts from turns by asking a service with the interface of OpenAI, some turns a request, by POST to `/chat/completions`: open triples of every turn,
 * a definition of every new relation, and which earlier relation has its meaning. Entities become the earliest spelling. Retries are those of the client of
 * services. Source: zhang2024edc.
 *
 * A line depends on its turn, on the others of its request and on earlier turns. Turns that are sensitive, or have the text of one that is, are not sent.
 *
 * @param turns in time order.
 * @throws ValidationError for lines of other turns; UnavailableError for a service that does not answer, or not in the form that is asked for; the reason of the
 * signal.
 */
export async function extractConcepts(
  turns: readonly Turn[],
  options: ExtractionOptions,
  {
    begun = [],
    limit = Number.POSITIVE_INFINITY,
    progress = ignoreProgress,
    signal,
    onExtracted,
  }: ExtractionContext = {},
): Promise<ExtractedConcepts> {
  const { model, batchSize } = options;
  const endpoint = createChatEndpoint(`extraction by ${model}`, options, signal);
  const held = listWithheldTurns(turns);
  const texts = turns.map((turn, position) => ({
    id: turn.id,
    title: readTitle(turn) ?? '',
    text: turn.text,
    position,
  }));
  const { sendable, withheld } = withholdSensitive(texts, ({ id }) => held.has(id));
  const positionOf = new Map(turns.map(({ id }, position) => [id, position]));
  const open = listOpenTurns(sendable, positionOf, begun).slice(0, Math.max(0, limit - begun.length));
  const writer = new ConceptLineWriter();
  for (const line of begun) writer.replay(line, isSensitive(turns[positionOf.get(line.id)!]!));
  const stage = progress(`ask ${model}`, open.length);
  const lines = [...begun];
  for (let start = 0; start < open.length; start += batchSize) {
    const batch = open.slice(start, start + batchSize);
    const written = await writer.write(batch, await requestTriples(batch, endpoint), endpoint);
    lines.push(...written);
    onExtracted?.(written);
    stage.update(start + batch.length);
  }
  stage.finish(endpoint.ledger.describe());
  return { lines, withheld: withheld.length, leftOut: writer.leftOut, use: endpoint.ledger.describe() };
}
