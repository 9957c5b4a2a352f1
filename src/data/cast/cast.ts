import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { Dataset } from '../../model/dataset.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { buildExportDataset, type ExportOptions } from '../exports/export-dataset.ts';
import { type ExportFile, findExportFiles, readExport, readJson } from '../exports/export-files.ts';
import { ORDINARY, type SourceMessage } from '../exports/source-message.ts';
import { id } from '../jsonl/jsonl-rows.ts';
import { CAST_LICENCE, type CastQueryText } from '../prepared/datasets.ts';
import { Counts } from '../prepared/prepared.ts';

const turn = z.object({
  number: id,
  parent: id.nullish(),
  participant: z.enum(['User', 'System']),
  utterance: z.string().nullish(),
  response: z.string().nullish(),
  manual_rewritten_utterance: z.string().nullish(),
  automatic_rewritten_utterance: z.string().nullish(),
});
type CastTurn = z.output<typeof turn>;

/** The schema of a file of topic trees, with the rewrites of people or those of a program. */
const castTopics = z.array(z.object({ number: z.int(), turn: z.array(turn) }));
type CastTopic = z.output<typeof castTopics>[number];

const MINUTE_MILLISECONDS = 60_000;

/**
 * The turns of all topics. The source has no times: each turn gets a minute of its own, topic after topic in the order
 * of the file, within a topic level by level. The order within a level comes from a hash of the ids, so that it does
 * not tell which turn another one follows.
 */
function listCastMessages(topics: readonly CastTopic[], queryText: CastQueryText, counts: Counts): SourceMessage[] {
  counts.add('topics', topics.length);
  const messages: SourceMessage[] = [];
  for (const topic of topics)
    for (const turn of orderByLevel(topic))
      messages.push(buildMessage(topic.number, turn, messages.length * MINUTE_MILLISECONDS, queryText));
  return messages;
}

function formatId(topic: number, number: string): string {
  return `${topic}_${number}`;
}

/** The turns of a topic, roots first; what reaches no root, and a second turn of a number, come last. */
function orderByLevel({ number, turn: turns }: CastTopic): CastTurn[] {
  const byNumber = new Map<string, CastTurn>();
  for (const turn of turns) if (!byNumber.has(turn.number)) byNumber.set(turn.number, turn);
  const children = new Map<string | null, CastTurn[]>();
  for (const turn of byNumber.values()) {
    const parent = typeof turn.parent === 'string' && byNumber.has(turn.parent) ? turn.parent : null;
    const list = children.get(parent);
    if (list === undefined) children.set(parent, [turn]);
    else list.push(turn);
  }
  const keys = new Map(turns.map((turn) => [turn, computeHash(formatId(number, turn.number))]));
  const getKey = (turn: CastTurn) => keys.get(turn) as string;
  const placed = new Set<CastTurn>();
  for (let level = children.get(null) ?? []; level.length > 0; ) {
    for (const turn of [...level].sort((a, b) => compareBytes(getKey(a), getKey(b)))) placed.add(turn);
    level = level.flatMap((turn) => children.get(turn.number) ?? []);
  }
  return [...placed, ...turns.filter((turn) => !placed.has(turn))];
}

function buildMessage(topic: number, turn: CastTurn, time: number, queryText: CastQueryText): SourceMessage {
  const isByPerson = turn.participant === 'User';
  const text = (isByPerson ? turn.utterance : turn.response) ?? '';
  const rewritten = turn.manual_rewritten_utterance ?? turn.automatic_rewritten_utterance;
  return {
    ...ORDINARY,
    id: formatId(topic, turn.number),
    conversationId: String(topic),
    parentId: typeof turn.parent === 'string' ? formatId(topic, turn.parent) : null,
    time,
    author: turn.participant,
    channel: null,
    text,
    ...(queryText === 'rewritten' && typeof rewritten === 'string' ? { queryText: rewritten } : {}),
    byPerson: isByPerson,
  };
}

/** The file of topic trees, and whether a user's turn is asked as uttered or as rewritten by the organisers. */
export interface CastOptions extends ExportOptions {
  /** The text by which a user's turn is asked: as it was said, or rewritten so that it can be understood alone. */
  readonly queryText: CastQueryText;
}

/**
 * The topic trees of TREC CAsT 2022. Times are made up. See docs/datasets/cast.md.
 *
 * @throws ValidationError for a file of another form, and if no query is left; StorageError if the file cannot be read.
 */
export async function loadCast({ path, queryText, ...choice }: CastOptions): Promise<Dataset> {
  const counts = new Counts();
  const messages = await readExport(path, async (files) => {
    const [file, ...others] = findExportFiles(files, /^\d{4}_evaluation_topics_tree\S*\.json$/, 'file of topic trees');
    if (others.length > 0) throw createSeveralError(path, [file as NonNullable<typeof file>, ...others]);
    const topics = await readJson(file as NonNullable<typeof file>, castTopics, 'a file of topic trees');
    return listCastMessages(topics, queryText, counts);
  });
  return buildExportDataset(
    {
      name: 'cast',
      path,
      licence: CAST_LICENCE,
      features: [
        queryText === 'utterance' ? 'text' : 'text (of queries: rewritten by who knew what was said before)',
        'order within a tree (times are made up from it)',
        'author (role)',
        'earlier reply links',
      ],
      times: 'order',
    },
    messages,
    choice,
    counts,
  );
}

/** Two versions have the same ids, so that only one can be read. */
function createSeveralError(path: string, files: readonly ExportFile[]): ValidationError {
  const names = files.map(({ name }) => name);
  return new ValidationError(`several files of topic trees in: ${path} (${names.join(', ')}); name one of them`, {
    path,
    names,
  });
}
