import { readFileSync } from 'node:fs';
import { ValidationError } from '../../core/errors/errors.ts';
import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { openConfig } from '../../lab/config/config.ts';
import { type AskedContext, askArm, type QuestionInput } from '../../lab/run/ask.ts';
import type { PackingName } from '../../memory/context/packing.ts';
import { runWithSources, type SourceFlags } from './asked-sources.ts';
import { formatBeside, formatReasons, formatWithheld } from './ranked-reasons.ts';
import { readVector } from './vector-argument.ts';

interface AskOptions extends SourceFlags {
  readonly arm: string;
  readonly vector?: string;
  readonly set: readonly string[];
  readonly dataset?: string;
  readonly budget: number;
  readonly strategy: NonNullable<QuestionInput['strategy']>;
  readonly weights: NonNullable<QuestionInput['weights']>;
  readonly session?: string;
  readonly rerank: 'bm25' | 'none';
  readonly packing: PackingName;
  readonly tokens: NonNullable<QuestionInput['tokens']>;
  readonly cite: boolean;
  readonly sensitive: boolean;
  readonly asOf?: string;
  readonly author?: string;
  readonly channel?: string;
  readonly conversation?: string;
  readonly anchor?: string;
  readonly json: boolean;
  readonly backend?: BackendChoice;
  readonly cache: string;
}

function readTime(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new ValidationError(`--as-of is no time: ${text}; write for example 2002-09-01T12:00Z`, { text });
  return time;
}

/** What the question asks for, and how documents and memories share the budget. */
function formatUnderstanding({ understanding, shared }: AskedContext): string {
  const { category, categoryRule, timeRange, entities, ambiguous, unresolved, strategy } = understanding;
  const flags = (['entityFocused', 'timeFocused', 'procedural', 'requiresDomainDb'] as const).filter(
    (flag) => understanding[flag],
  );
  const formatTime = (time: number) => new Date(time).toISOString();
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['category', [`${category} (${categoryRule})`]],
    ['flags', flags],
    ['time', timeRange === null ? [] : [`${formatTime(timeRange.start)} to ${formatTime(timeRange.end)}`]],
    [
      'entities',
      entities.map(
        ({ mentionText, canonicalId, confidence, match }) =>
          `${mentionText} = ${canonicalId} (${match}, ${confidence.toFixed(2)})`,
      ),
    ],
    [
      'ambiguous',
      ambiguous.map(
        ({ mentionText, candidates }) =>
          `${mentionText} = ${candidates.map(({ canonicalId }) => canonicalId).join(' or ')}`,
      ),
    ],
    ['unknown names', unresolved],
    ['strategy', [`${strategy.name}, since ${strategy.rule}`]],
    ...(shared === null ? [] : [['budget', [formatShares(shared)]] as const]),
  ];
  return rows.map(([name, values]) => `${name}: ${values.length === 0 ? 'none' : values.join('; ')}`).join('\n');
}

/** `rag: documents .4 (3 found), memories .6 (12 found)` */
function formatShares({ strategy, weights, found }: NonNullable<AskedContext['shared']>): string {
  const parts = Object.entries(found).map(
    ([name, count]) => `${name} ${weights[name as keyof typeof weights]} (${count} found)`,
  );
  return `${strategy}: ${parts.join(', ')}`;
}

export async function ask(path: string, text: string, options: AskOptions): Promise<void> {
  const config = await openConfig(path, options.set, options.dataset ?? null);
  await useBackend(options.backend ?? config.backend);
  const question = {
    text: text === '-' ? readFileSync(0, 'utf8').trim() : text,
    ...{ budget: options.budget, packing: options.packing, tokens: options.tokens },
    ...{ strategy: options.strategy, weights: options.weights, rerank: options.rerank },
    ...{ timeZone: options.timeZone, sensitive: options.sensitive, cite: options.cite },
    vector: options.vector === undefined ? null : [...(await readVector(options.vector))],
    session: options.session ?? null,
    asOf: options.asOf === undefined ? null : readTime(options.asOf),
    author: options.author ?? null,
    channel: options.channel ?? null,
    conversationId: options.conversation ?? null,
    anchorTurnId: options.anchor ?? null,
  };
  const asked = await runWithSources(options, (sources) =>
    askArm(config, options.arm, question, { cacheFolder: options.cache, progress: createTerminalProgress(), sources }),
  );
  if (options.json) {
    printOut(`${JSON.stringify(asked, null, 2)}\n`);
    return;
  }
  printOut(
    `${asked.prompt}\n${formatUnderstanding(asked)}\n\n${asked.tokens} of ${asked.budget} tokens; [x] is in the prompt\n${formatWithheld(asked.withheld)}${formatBeside(asked.beside)}${formatReasons(asked.ranking)}\n`,
  );
}
