import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { makeFolder, writeAtomic } from '../../core/files/files.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { formatConfigSchema } from './config-schema.ts';
import { drawSampleData } from './sample-data.ts';

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
