import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { createRandom } from '../src/core/numbers/random.ts';
import { useBackend } from '../src/core/tensors/backend.ts';
import { MEMORY_SOURCES } from '../src/index/memories/memory-options.ts';
import { assemble } from '../src/memory/context/assemble.ts';
import { ContextCache } from '../src/memory/context/context-cache.ts';
import type { AskedMemory } from '../src/rank/signals/asked-memories.ts';
import { drawContextData } from './context-data.ts';
import { ContextParts } from './context-parts.ts';
import { parsePositiveOption } from './integer-option.ts';
import { summarisePercentiles } from './kernel-data.ts';
import { formatTextTable } from './text-table.ts';

export const CONTEXT_USAGE = `context [options]      from a question to a prompt: each component beside its aim, beside vector search alone, and repeated questions
    --n N          memories (default 100000, which takes a minute)
    --dimension D  of the vectors (default 384)
    --questions Q  that differ (default 200)
    --asked R      questions of which many are repeated, through a cache (default 2000)
    --kept C       contexts that the cache keeps (default 100)
    --seed S       (default 7)`;

/** Milliseconds of the retrieval design, at the 95th percentile. */
const AIMS: Readonly<Record<string, number>> = {
  'candidates: semantic': 50,
  'candidates: entities': 30,
  ranking: 20,
  'all components': 100,
  'cache: known': 1,
};
/** The share of questions below u of the most asked is u^SKEW. */
const SKEW = 3;
const OPTIONS = { strategy: 'hybrid', budget: 2000 } as const;
/** Questions before the measured ones. */
const WARM_UP = 10;

/** Milliseconds by component, a value for each question, and how many items a component gave. */
class Watch {
  readonly times = new Map<string, number[]>();
  readonly found = new Map<string, number>();

  async measure<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await work();
    this.add(name, performance.now() - start);
    if (Array.isArray(result)) this.found.set(name, (this.found.get(name) ?? 0) + result.length);
    return result;
  }

  add(name: string, milliseconds: number): void {
    const list = this.times.get(name) ?? [];
    this.times.set(name, list);
    list.push(milliseconds);
  }
}

const assembleItems = (parts: ContextParts, question: number) =>
  assemble(parts.data.questions[question] as string, OPTIONS, parts.sources, { now: parts.data.now });

/** Each part by itself, one after the other, then all as users call them: the five sources at once. */
async function measureComponents(parts: ContextParts, watch: Watch): Promise<void> {
  for (const question of parts.data.questions.keys()) {
    const asked = await watch.measure('understanding', () => parts.understand(question));
    const ids = new Set<string>();
    for (const name of MEMORY_SOURCES)
      for (const { id } of await watch.measure(`candidates: ${name}`, () => parts.search(name, question, asked)))
        ids.add(id);
    const ranked = await watch.measure('ranking', () => parts.rank(question, asked, ids));
    await watch.measure('selection', () => parts.select(ranked));
    await watch.measure('all components', async () => (await assembleItems(parts, question)).items);
    await watch.measure('peer: vector search, texts joined', () => joinNearest(parts, question, asked));
  }
}

/** What a plain retriever does: the nearest 20, as text, until the budget is full. */
async function joinNearest(parts: ContextParts, question: number, asked: AskedMemory): Promise<string> {
  let text = '';
  for (const next of (await parts.search('semantic', question, asked)).slice(0, 20)) {
    if ((text.length + next.text.length) / 4 > OPTIONS.budget) break;
    text += `${next.text}\n`;
  }
  return text;
}

/** Asks questions of which many were asked before. */
async function measureCache(
  parts: ContextParts,
  { asked, kept, seed }: { readonly asked: number; readonly kept: number; readonly seed: number },
  watch: Watch,
): Promise<string> {
  const { questions, now } = parts.data;
  const cache = new ContextCache(parts.sources, kept);
  const random = createRandom(seed, 'asked');
  for (let i = 0; i < asked; i++) {
    const query = questions[Math.floor(questions.length * random.uniform() ** SKEW)] as string;
    const before = cache.use.hits;
    const start = performance.now();
    await cache.assemble(query, OPTIONS, { now, version: `seed ${seed}` });
    watch.add(cache.use.hits > before ? 'cache: known' : 'cache: new', performance.now() - start);
  }
  const { hits, size } = cache.use;
  return `cache: ${hits} of ${asked} questions were known (hit rate ${(hits / asked).toFixed(3)}), ${size} contexts kept of ${questions.length}`;
}

function formatWatch({ times, found }: Watch): string {
  const header = ['component', 'questions', 'items', 'p50 ms', 'p95 ms', 'p99 ms', 'aim ms'];
  const rows = [...times].map(([name, list]) => {
    const { p50, p95, p99 } = summarisePercentiles(list);
    const items = found.get(name);
    const mean = items === undefined ? '' : (items / list.length).toFixed(1);
    return [name, `${list.length}`, mean, p50.toFixed(3), p95.toFixed(3), p99.toFixed(3), `${AIMS[name] ?? ''}`];
  });
  return formatTextTable(header, rows);
}

/** Prints the tables of the bench. */
export async function benchContext(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      n: { type: 'string', default: '100000' },
      dimension: { type: 'string', default: '384' },
      questions: { type: 'string', default: '200' },
      asked: { type: 'string', default: '2000' },
      kept: { type: 'string', default: '100' },
      seed: { type: 'string', default: '7' },
    },
  });
  const read = (name: keyof typeof values) => parsePositiveOption(name, values[name]);
  const [size, dimension, questions, seed] = [read('n'), read('dimension'), read('questions'), read('seed')];
  const [asked, kept] = [read('asked'), read('kept')];
  const backend = await useBackend('wasm');
  const load = loadavg()[0]?.toFixed(1);
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, load ${load}; node ${process.version}; backend ${backend}`,
  );
  console.log(
    `data: ${size} memories x ${dimension}, ${questions} questions, seed ${seed}; vectors of questions are given`,
  );
  const parts = await ContextParts.build(drawContextData({ size, dimension, questions, seed }));
  try {
    for (let i = 0; i < WARM_UP; i++) await assembleItems(parts, i % questions);
    const watch = new Watch();
    await measureComponents(parts, watch);
    const cacheLine = await measureCache(parts, { asked, kept, seed }, watch);
    console.log(`\n${formatWatch(watch)}\n\n${cacheLine}`);
  } finally {
    parts.dispose();
  }
}
