import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, type Random } from '../src/core/numbers/random.ts';

const HOUR_MILLISECONDS = 3_600_000;
const WORDS = 5000;
const TOPIC_WORDS = 40;

/** Frequencies as in a language: a few words are most of the text. */
function drawCommonWord(source: Random): string {
  return `w${Math.floor(WORDS * source.uniform() ** 3)}`;
}

/** 20 to 79 words, of which a fifth are those of a topic. */
export function drawTopicText(source: Random, topic: number): string {
  const words = Array.from({ length: 20 + source.integer(60) }, (_, i) => {
    const word = source.uniform() < 0.2 ? `t${topic}x${source.integer(TOPIC_WORDS)}` : drawCommonWord(source);
    return i % 11 === 10 ? `${word}.` : word;
  });
  return words.join(' ');
}

/**
 * Writes a made-up dataset of the kind `jsonl`: threads of 2 to 14 turns that overlap in time, and for each the question that its last turn answers.
 *
 * @param size turns, about
 * @param the number of topics that threads use in turn; by default one per thread
 */
export function writeSyntheticThreads(
  folder: string,
  size: number,
  seed: number,
  topics = Number.POSITIVE_INFINITY,
): void {
  const source = createRandom(seed, 'synthetic-threads');
  const turns: object[] = [];
  const queries: object[] = [];
  const qrels: string[] = [];
  for (let thread = 0; turns.length < size; thread++) {
    const length = 2 + source.integer(13);
    const topic = thread % topics;
    let timestamp = Date.UTC(2024, 0, 1) + thread * 3 * HOUR_MILLISECONDS;
    for (let i = 0; i < length; i++) {
      timestamp += (1 + source.integer(4)) * HOUR_MILLISECONDS;
      const parentId = i === 0 ? null : `t${thread}-${Math.max(0, i - 1 - source.integer(3))}`;
      turns.push({
        id: `t${thread}-${i}`,
        conversationId: `c${thread}`,
        parentId,
        timestamp,
        text: drawTopicText(source, topic),
      });
    }
    const answered = Math.max(0, length - 1 - source.integer(3));
    const query = {
      id: `q${thread}`,
      text: drawTopicText(source, topic),
      timestamp: timestamp + HOUR_MILLISECONDS / 2,
    };
    queries.push({ ...query, conversationId: `c${thread}` });
    qrels.push(`q${thread} 0 t${thread}-${answered} 1`);
  }
  mkdirSync(folder, { recursive: true });
  const formatJsonLines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(join(folder, 'turns.jsonl'), formatJsonLines(turns));
  writeFileSync(join(folder, 'queries.jsonl'), formatJsonLines(queries));
  writeFileSync(join(folder, 'qrels.txt'), `${qrels.join('\n')}\n`);
}
