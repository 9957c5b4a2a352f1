import type { PackingName } from '../../context/packing.ts';
import { type BackendChoice, useBackend } from '../../core/backend.ts';
import { ValidationError } from '../../core/errors.ts';
import { createTerminalProgress } from '../../core/progress.ts';
import { printOut } from '../../core/terminal.ts';
import { type AskedContext, askArm, type QuestionInput } from '../../experiment/ask/ask.ts';
import { loadConfig } from '../../experiment/config/config.ts';

interface AskOptions {
  readonly arm: string;
  readonly set: readonly string[];
  readonly dataset?: string;
  readonly budget: number;
  readonly packing: PackingName;
  readonly tokens: NonNullable<QuestionInput['tokens']>;
  readonly asOf?: string;
  readonly author?: string;
  readonly channel?: string;
  readonly conversation?: string;
  readonly anchor?: string;
  readonly format: 'text' | 'json';
  readonly backend?: BackendChoice;
  readonly cache: string;
}

/** Rows of the ranking that are shown below a prompt. */
const SHOWN = 20;

function readTime(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new ValidationError(`--as-of is no time: ${text}; write for example 2002-09-01T12:00Z`, { text });
  return time;
}

/** `3.  [x]  7.213  mail-17  bm25 7.213` */
function formatReasons({ ranking }: AskedContext): string {
  const lines = ranking.slice(0, SHOWN).map(({ id, rank, score, parts, tokens, packed }) => {
    const named = Object.entries(parts).map(([name, value]) => `${name} ${value.toFixed(3)}`);
    return `${String(rank).padStart(4)}. ${packed ? '[x]' : '[ ]'} ${score.toFixed(4)}  ${id}  ${tokens} tokens  ${named.join(', ')}`;
  });
  const more = ranking.length - lines.length;
  return [...lines, ...(more > 0 ? [`      and ${more} more`] : [])].join('\n');
}

export async function ask(path: string, text: string, options: AskOptions): Promise<void> {
  const config = loadConfig(path, options.set, options.dataset ?? null);
  await useBackend(options.backend ?? config.backend);
  const asked = await askArm(
    config,
    options.arm,
    {
      ...{ text, budget: options.budget, packing: options.packing, tokens: options.tokens },
      asOf: options.asOf === undefined ? null : readTime(options.asOf),
      author: options.author ?? null,
      channel: options.channel ?? null,
      conversationId: options.conversation ?? null,
      anchorTurnId: options.anchor ?? null,
    },
    { cacheFolder: options.cache, progress: createTerminalProgress() },
  );
  if (options.format === 'json') {
    printOut(`${JSON.stringify(asked, null, 2)}\n`);
    return;
  }
  printOut(
    `${asked.prompt}\n${asked.tokens} of ${asked.budget} tokens; [x] is in the prompt\n${formatReasons(asked)}\n`,
  );
}
