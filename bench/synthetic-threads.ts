import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
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

/** Characters that are collected before they are written: all lines of a file may be longer than a string can be. */
const BLOCK_CHARACTERS = 2 ** 20;

/** A file written line by line. */
class LineFile {
  readonly #file: number;
  #text = '';

  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  write(line: string): void {
    this.#text += `${line}\n`;
    if (this.#text.length >= BLOCK_CHARACTERS) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    writeFileSync(this.#file, this.#text);
    this.#text = '';
  }
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
  mkdirSync(folder, { recursive: true });
  const open = (name: string) => new LineFile(join(folder, name));
  const [turns, queries, qrels] = [open('turns.jsonl'), open('queries.jsonl'), open('qrels.txt')];
  for (let thread = 0, written = 0; written < size; thread++) {
    const length = 2 + source.integer(13);
    const topic = thread % topics;
    let timestamp = Date.UTC(2024, 0, 1) + thread * 3 * HOUR_MILLISECONDS;
    for (let i = 0; i < length; i++) {
      timestamp += (1 + source.integer(4)) * HOUR_MILLISECONDS;
      const parentId = i === 0 ? null : `t${thread}-${Math.max(0, i - 1 - source.integer(3))}`;
      const [id, conversationId] = [`t${thread}-${i}`, `c${thread}`];
      turns.write(JSON.stringify({ id, conversationId, parentId, timestamp, text: drawTopicText(source, topic) }));
    }
    written += length;
    const answered = Math.max(0, length - 1 - source.integer(3));
    const query = {
      id: `q${thread}`,
      text: drawTopicText(source, topic),
      timestamp: timestamp + HOUR_MILLISECONDS / 2,
    };
    queries.write(JSON.stringify({ ...query, conversationId: `c${thread}` }));
    qrels.write(`q${thread} 0 t${thread}-${answered} 1`);
  }
  for (const file of [turns, queries, qrels]) file.close();
}
