import { ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress, letEventsIn, mapWithBreaks, type StartProgress } from '../../core/terminal/progress.ts';
import type { Dataset, Query, Split } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { describeDepthFault } from '../jsonl/jsonl-rows.ts';
import { type DatasetContext, LOCOMO_CATEGORIES, LOCOMO_LICENCE, type LocomoCategory } from '../prepared/datasets.ts';
import {
  Counts,
  chooseSplitByHash,
  countUndecodable,
  displayDataset,
  groupJudgements,
  type Judgement,
  UNKNOWN_TURNS,
} from '../prepared/prepared.ts';
import {
  computeTurnTimes,
  type LocomoSample,
  type LocomoTurn,
  parseDialogueKeys,
  readSample,
  repairEvidence,
} from './locomo-schema.ts';

/** A sample as a line of turns. */
interface LocomoConversation {
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

/** The grade of a turn that a question's evidence names. */
const EVIDENCE = 1;

/** The questions of a sample that become queries, in the order of the file, with their judgements. */
interface AskedQuestions {
  readonly queries: readonly Query[];
  readonly judgements: readonly Judgement[];
}

/**
 * The questions of the categories that have evidence, asked after the last turn. Their ids contain their index among
 * all questions of the sample, from 0.
 */
export function buildLocomoQueries(
  sample: LocomoSample,
  { turns, byKey }: LocomoConversation,
  {
    categories,
    chooseSplit,
  }: { readonly categories: readonly LocomoCategory[]; readonly chooseSplit: (questionId: string) => Split },
  counts: Counts,
): AskedQuestions {
  const end = (turns.at(-1) as Turn).timestamp + 1;
  const asked = sample.questions
    .map((question, i) => ({ ...question, id: `${sample.id}/q${i}`, ...repairEvidence(question.evidence, byKey) }))
    .filter(({ category }) => categories.includes(category));
  const answered = asked.filter(({ turnIds }) => turnIds.length > 0);
  counts.add('left out: questions of other categories', sample.questions.length - asked.length);
  counts.add('left out: questions without evidence', asked.length - answered.length);
  for (const { unknown, empty } of asked) {
    counts.add(UNKNOWN_TURNS.locomo, unknown);
    counts.add('evidence without a dialogue id', empty);
  }
  const queries = answered.map(
    ({ id, text, category }): Query => ({
      id,
      text,
      timestamp: end,
      anchorTurnId: null,
      author: null,
      channel: null,
      conversationId: sample.id,
      kind: category,
      split: chooseSplit(id),
      cluster: sample.id,
    }),
  );
  const judgements = answered.flatMap(({ id, turnIds }) =>
    turnIds.map((turnId) => ({ queryId: id, turnId, grade: EVIDENCE })),
  );
  return { queries, judgements };
}

/** The file of LoCoMo, the kinds of questions that are asked, and the conversations of the test split. */
export interface LocomoOptions {
  /** A JSON file in the format of locomo10.json: a list of samples, or one sample. */
  readonly path: string;
  /** The categories of questions to include. */
  readonly categories: readonly LocomoCategory[];
  /** The conversations whose questions are for test; all others are for development. */
  readonly testConversations: readonly string[];
  /** True if a hash of a question's id puts it into dev or test, instead of its conversation; false by default. */
  readonly splitQuestions?: boolean | undefined;
}

interface Read {
  readonly turns: readonly Turn[];
  /** In time order. */
  readonly queries: readonly Query[];
  readonly judgements: readonly Judgement[];
}

/**
 * LoCoMo, very long conversations of two speakers: a question must find the turns that its answer rests on. See
 * docs/datasets/locomo.md.
 *
 * @throws ValidationError for content that the format does not allow, and if no question is left; StorageError if the
 *   file cannot be read.
 */
export async function loadLocomo(
  options: LocomoOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const { path, testConversations } = options;
  const samples = await readSamples(path, progress);
  assertHeld(samples, testConversations, path);
  const counts = new Counts();
  await letEventsIn();
  const { turns, queries, judgements } = prepare(samples, options, counts);
  if (queries.length === 0)
    throw new ValidationError(
      `no question of ${options.categories.join(', ')} has evidence in: ${path}; choose other categories`,
      { path },
    );
  const corpus = new Corpus(turns);
  return displayDataset({
    name: 'locomo',
    declaration: {
      task: 'a question about a conversation must find the turns of it that the answer rests on, when all has been said',
      features: ['text', 'captions of pictures', 'time', 'author', 'channel (session)', 'order of the turns'],
      licence: LOCOMO_LICENCE,
    },
    corpus,
    queries,
    qrels: groupJudgements(queries, judgements),
    relevantGrade: EVIDENCE,
    gradeNames: { [EVIDENCE]: 'evidence' },
    devConversations: new Set(samples.map(({ id }) => id).filter((id) => !testConversations.includes(id))),
    facts: counts.toFacts(),
    hash: computeHash({ turns: corpus.turns, queries, judgements }),
  });
}

/** The samples of a file, by their ids. */
async function readSamples(path: string, progress: StartProgress): Promise<LocomoSample[]> {
  const content = parseJson(readText(path).replace(/^\ufeff/, ''), path);
  const items: unknown[] = Array.isArray(content) ? content : [content];
  const stage = progress('samples', items.length);
  const samples = await mapWithBreaks(items, stage, (item, i) => readSample(item, `[${i}]`, path));
  stage.finish();
  samples.sort((a, b) => compareBytes(a.id, b.id));
  const twice = samples.find(({ id }, i) => id === samples[i - 1]?.id);
  if (twice !== undefined)
    throw new ValidationError(`sample is repeated in ${path}: ${twice.id}; remove one`, { path });
  return samples;
}

function parseJson(text: string, path: string): unknown {
  const tooDeep = describeDepthFault(text);
  if (tooDeep !== null)
    throw new ValidationError(`not a LoCoMo file, ${tooDeep}: ${path}; name a file like locomo10.json`, { path });
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = (error as Error).message.replace(/\s+/g, ' ');
    throw new ValidationError(
      `not JSON (${reason}): ${path}; name a file like locomo10.json`,
      { path },
      { cause: error },
    );
  }
}

/** @throws ValidationError for a conversation for test that the file does not hold. */
function assertHeld(samples: readonly LocomoSample[], wanted: readonly string[], path: string): void {
  const held = samples.map(({ id }) => id);
  const missing = wanted.filter((id) => !held.includes(id));
  if (missing.length > 0)
    throw new ValidationError(
      `unknown test conversation: ${missing.join(', ')}; use one of ${held.join(', ')} in ${path}`,
      {
        path,
        missing,
      },
    );
}

function prepare(samples: readonly LocomoSample[], options: LocomoOptions, counts: Counts): Read {
  const { path, categories, testConversations, splitQuestions = false } = options;
  if (splitQuestions && testConversations.length > 0)
    throw new ValidationError('splitQuestions leaves no test conversations: give one of the two', {
      testConversations,
    });
  const parts = samples.map((sample) => {
    const conversation = buildLocomoConversation(sample, path, counts);
    const split = testConversations.includes(sample.id) ? 'test' : 'dev';
    const chooseSplit = splitQuestions ? chooseSplitByHash : () => split;
    return {
      turns: conversation.turns,
      ...buildLocomoQueries(sample, conversation, { categories, chooseSplit }, counts),
    };
  });
  const turns = parts.flatMap((part) => part.turns);
  const queries = parts.flatMap((part) => part.queries).sort((a, b) => a.timestamp - b.timestamp);
  const judgements = parts.flatMap((part) => part.judgements);
  countUndecodable([...turns, ...queries], counts);
  counts.add('messages', turns.length);
  counts.add('conversations', samples.length);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
  for (const category of LOCOMO_CATEGORIES.filter((name) => categories.includes(name)))
    counts.add(`queries, ${category}`, queries.filter((query) => query.kind === category).length);
  counts.add('judgements', judgements.length);
  return { turns, queries, judgements };
}
