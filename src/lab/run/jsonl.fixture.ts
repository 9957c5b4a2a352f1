import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, type Random } from '../../core/numbers/random.ts';

const HOUR_MILLISECONDS = 3_600_000;
const THREADS = 23;
const TOPICS =
  'kernel patch driver module boot panic soup lentils garlic onion pepper broth train ticket platform delay station track violin tuning bow string bridge rosin mortgage interest bank loan rate deposit orchid pot moss light humidity root'.split(
    ' ',
  );
const COMMON = 'we should could you please try the old new thing today tomorrow again with without maybe really'.split(
  ' ',
);

/** A sentence that mostly keeps to its topic. */
function drawSentence(source: Random, topic: readonly string[]): string {
  const words = Array.from({ length: 7 + source.integer(12) }, () => {
    const list = source.uniform() < 0.4 ? topic : COMMON;
    return list[source.integer(list.length)] as string;
  });
  return `${words.join(' ')}.`;
}

/**
 * Writes a made-up dataset of the kind `jsonl` into a folder: 23 threads of 3 to 7 turns, one after the other, about 110 turns in all, and two queries a thread,
 * each looking for the turn that it takes words from. One query has no answer.
 */
export function writeSampleJsonl(folder: string): void {
  const source = createRandom(41, 'sample-jsonl');
  const turns: object[] = [];
  const queries: object[] = [];
  const qrels: string[] = [];
  for (let thread = 0; thread < THREADS; thread++) {
    const topic = TOPICS.slice((thread % 6) * 6, (thread % 6) * 6 + 6);
    const start = Date.UTC(2024, 4, 1) + thread * 29 * HOUR_MILLISECONDS;
    const texts = Array.from({ length: 3 + source.integer(5) }, () => drawSentence(source, topic));
    for (const [i, text] of texts.entries()) {
      const parentId = i === 0 ? null : `t${thread}-${source.integer(i)}`;
      const place = { id: `t${thread}-${i}`, conversationId: `c${thread}`, parentId };
      turns.push({
        ...place,
        timestamp: start + i * HOUR_MILLISECONDS,
        channel: thread % 2 === 0 ? 'even' : 'odd',
        text,
      });
    }
    for (const [number, target] of [0, 2].entries()) {
      const words = (texts[target] as string).replace('.', '').split(' ');
      const text = `${source.shuffle(words).slice(0, 5).join(' ')} ${COMMON[source.integer(COMMON.length)]}`;
      const id = `q${thread}-${number}`;
      queries.push({ id, text, timestamp: start + (number + 2) * HOUR_MILLISECONDS - 1, conversationId: `c${thread}` });
      if (id !== 'q21-1') qrels.push(`${id} 0 t${thread}-${target} 1`);
    }
  }
  const formatFixtureLines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(join(folder, 'turns.jsonl'), formatFixtureLines(turns));
  writeFileSync(join(folder, 'queries.jsonl'), formatFixtureLines(queries));
  writeFileSync(join(folder, 'qrels.txt'), `${qrels.join('\n')}\n`);
}

/** A config for it, with every kind of step. */
export function buildSampleConfig(dataFolder: string): object {
  return {
    name: 'sample',
    description: 'A made-up experiment.',
    seed: 3,
    backend: 'wasm',
    dataset: { name: 'jsonl', path: dataFolder },
    embedding: { encoder: 'lsa', dimension: 13 },
    evaluation: { baseline: 'hybrid', samples: 499, depth: 37, metrics: ['mrr@10', 'recall@5', 'ndcg@10', 'map'] },
    arms: {
      newest: [{ search: { newest: { k: 19 } } }],
      hybrid: {
        steps: [{ search: { bm25: { k: 17 }, hnsw: { k: 17 } } }, { fuse: { convex: { hnsw: 0.8, bm25: 'rest' } } }],
        tune: { 'fuse.convex.hnsw': [0.2, 0.6] },
      },
      'Decayed × 2': { from: 'hybrid', then: [{ decay: {} }], tune: { 'decay.halfLifeHours': [12, 96] } },
      unified: { from: 'Decayed × 2', then: [{ blend: { trajectory: {}, unified: {} } }] },
      propagated: [
        { propagate: 'framework' },
        { search: { bm25: { k: 17 }, flat: { k: 17 } } },
        { fuse: { convex: { flat: 0.8, bm25: 'rest' } } },
      ],
    },
  };
}
