import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { makeFolder, writeAtomic } from '../../core/files/files.ts';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import { printOut } from '../../core/terminal/progress.ts';
import { formatConfigSchema } from './config.ts';

/** The latest 30 % of them are the test split: more than the 20 conversations that bootstrap intervals need. */
const CONVERSATIONS = 110;
const HOUR_MILLISECONDS = 3_600_000;
const START = Date.UTC(2024, 0, 8, 9);

/** Topics of the sample, six words each. */
const TOPICS: readonly (readonly string[])[] = [
  'kernel driver module patch panic boot',
  'lentils soup garlic onion pepper broth',
  'train ticket platform delay station track',
  'violin bow string bridge rosin tuning',
  'mortgage interest bank loan rate deposit',
  'orchid moss pot light humidity root',
  'bicycle chain brake saddle pedal tyre',
  'telescope mirror lens tripod comet filter',
].map((words) => words.split(' '));
const AUTHORS = ['ana', 'bea', 'cem', 'dan', 'eva', 'finn'];
const QUESTIONS = [
  'How do I keep the # from failing near the #?',
  'Which # goes with this #?',
  'My # broke after the # changed.',
];
const ANSWERS = [
  'Check the # before you touch the #.',
  'The # was too old, so I replaced it and the # as well.',
  'With a new # the # works again.',
  'I would ask about the # first, then the #.',
];
const QUERIES = ['which # was it, and what about the #', 'what you said about the # and the #'];

/** The files of a dataset of kind `jsonl`, by name. */
type SampleFiles = Readonly<Record<'turns.jsonl' | 'queries.jsonl' | 'qrels.txt', string>>;

function draw<T>(list: readonly T[], source: Random): T {
  return list[source.integer(list.length)] as T;
}

/** Fills the gaps of a sentence with words. */
function fillSentence(pattern: string, words: readonly string[]): string {
  let at = 0;
  return pattern.replace(/#/g, () => words[at++ % words.length] as string);
}

function formatLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/**
 * Draws made-up conversations with replies: 110 threads of 4 to 8 turns, which overlap in time, and two queries a
 * thread. A query comes after the last turn, in words of the turn that it looks for. The same seed gives the same
 * files.
 */
function drawSampleData(seed: number): SampleFiles {
  const source = createRandom(seed, 'sample-conversations');
  const turns: object[] = [];
  const queries: object[] = [];
  const qrels: string[] = [];
  for (let thread = 0; thread < CONVERSATIONS; thread++) {
    const conversationId = `thread-${thread}`;
    const topic = draw(TOPICS, source);
    const start = START + thread * 5 * HOUR_MILLISECONDS;
    const length = 4 + source.integer(5);
    const words = Array.from({ length }, () => source.shuffle([...topic]).slice(0, 2));
    for (const [i, pair] of words.entries())
      turns.push({
        id: `${conversationId}-${i}`,
        conversationId,
        parentId: i === 0 ? null : `${conversationId}-${source.uniform() < 0.7 ? i - 1 : source.integer(i)}`,
        timestamp: new Date(start + i * HOUR_MILLISECONDS).toISOString(),
        author: draw(AUTHORS, source),
        text: fillSentence(draw(i === 0 ? QUESTIONS : ANSWERS, source), pair),
      });
    for (const [number, target] of source
      .shuffle([...words.keys()])
      .slice(0, 2)
      .entries()) {
      const id = `query-${thread}-${number}`;
      const timestamp = new Date(start + (length + number) * HOUR_MILLISECONDS).toISOString();
      const text = fillSentence(draw(QUERIES, source), words[target] as readonly string[]);
      queries.push({ id, text, timestamp, cluster: conversationId });
      qrels.push(`${id} 0 ${conversationId}-${target} 1\n`);
    }
  }
  return { 'turns.jsonl': formatLines(turns), 'queries.jsonl': formatLines(queries), 'qrels.txt': qrels.join('') };
}

/** An experiment that compares the signals of the paper, step by step. Its data is beside it. */
const CONFIG = `# yaml-language-server: $schema=config.schema.json
name: my-experiment
description: Which signals find the turn that a query asks for?
seed: 1

# Made-up conversations. For your own, replace the files in data or name another folder.
dataset:
  name: jsonl
  path: data

embedding:
  encoder: lsa
  dimension: 32

evaluation:
  split: test
  baseline: words
  metrics: [mrr@10, recall@10, ndcg@10]

arms:
  newest first:
    description: the newest turns, whatever they say
    steps: [search: { newest: { k: 100 } }]

  words:
    description: BM25
    steps: [search: { bm25: { k: 100 } }]

  embeddings:
    description: cosine similarity
    steps: [search: { flat: { k: 100 } }]

  words, fading:
    description: BM25, halved in weight for each half-life of age
    from: words
    then: [decay: 24]
    tune: { decay.halfLifeHours: [6, 24, 96] }

  words, fading, trajectory:
    description: blended with the distance in trajectory coordinates
    from: words, fading
    then: [blend: { trajectory: { dimensions: 5 } }]
    tune: { blend.trajectory.weight: [0.1, 0.2, 0.3] }
`;

/** A name as one word of a shell. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** The entries of a folder that does not exist yet are none. @throws ValidationError for a path that is a file. */
function assertEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  const entries = listEntries(folder);
  if (entries.length === 0) return;
  throw new ValidationError(`folder is not empty: ${folder} (holds ${entries[0]}); name a new folder`, {
    folder,
  });
}

function listEntries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw new ValidationError(
      `not a folder that can be read: ${folder}; name a new folder`,
      { folder },
      { cause: error },
    );
  }
}

/** Writes a config with sample data into a new or empty folder, and says what to type next. */
export function init(folder: string, { seed }: { readonly seed: number }): void {
  assertEmpty(folder);
  const files = {
    ...Object.fromEntries(Object.entries(drawSampleData(seed)).map(([name, text]) => [join('data', name), text])),
    'config.schema.json': formatConfigSchema(),
    'config.yaml': CONFIG,
  };
  makeFolder(join(folder, 'data'));
  for (const [name, text] of Object.entries(files)) writeAtomic(join(folder, name), text);
  const config = quote(join(folder, 'config.yaml'));
  const results = quote(join(folder, 'results'));
  printOut(`${folder}: ${Object.keys(files).join(', ')}

Next:
  ragpp config show ${config}
  ragpp run ${config} --results ${results}
  ragpp results ${results} --sort mrr@10
  ragpp table ${results}/my-experiment-<hash> --columns mrr@10,interval,p --format latex
`);
}
