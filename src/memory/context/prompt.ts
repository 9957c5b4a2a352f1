import { ValidationError } from '../../core/errors/errors.ts';
import { formatMinute } from '../../core/text/format.ts';
import { isTime } from '../../core/validation/validation.ts';
import { ZoneClock } from '../../model/text/times/calendar.ts';
import { type ContextItem, type ItemType, readItemText } from './source.ts';

const SECTIONS: readonly (readonly [ItemType, string])[] = [
  ['summary', 'Relevant Summaries'],
  ['procedural', 'Relevant Procedures'],
  ['semantic', 'Relevant Facts'],
  ['document', 'Relevant Documents'],
  ['episodic', 'Relevant Past Interactions'],
];

const MINUTE = 60_000;
const UNITS: readonly (readonly [string, number])[] = [
  ['year', 365 * 24 * 60 * MINUTE],
  ['month', 30 * 24 * 60 * MINUTE],
  ['week', 7 * 24 * 60 * MINUTE],
  ['day', 24 * 60 * MINUTE],
  ['hour', 60 * MINUTE],
  ['minute', MINUTE],
];

/** `2 weeks ago`, rounded down; `just now` below a minute. */
export function formatTimeAgo(timestamp: number, now: number): string {
  const age = Math.max(0, now - timestamp);
  const unit = UNITS.find(([, milliseconds]) => age >= milliseconds);
  if (unit === undefined) return 'just now';
  const count = Math.floor(age / unit[1]);
  return `${count} ${unit[0]}${count === 1 ? '' : 's'} ago`;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** `, Monday 2023-05-08 13:56 UTC`; nothing for a number that is no time. */
function formatDate(timestamp: number, timeZone: string): string {
  const wall = isTime(timestamp) ? ZoneClock.of(timeZone).readWall(timestamp) : Number.NaN;
  return isTime(wall) ? `, ${WEEKDAYS[new Date(wall).getUTCDay()]} ${formatMinute(wall)} ${timeZone}` : '';
}

/** One line: a line break inside a text would begin another part of the prompt. */
function formatLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Types whose time is that of what they tell. */
const DATED: ReadonlySet<ItemType> = new Set(['episodic', 'semantic', 'summary']);

function formatItem(item: ContextItem, { now, timeZone, cites }: PromptForm): string {
  const { id, memoryType, text, trigger, timestamp, source, why } = item;
  const mark = cites ? `[${formatLine(id)}] ` : '';
  const reason = cites && why !== undefined ? `; ${formatLine(why)}` : '';
  if (memoryType === 'procedural' && trigger !== undefined)
    return `- ${mark}When: ${formatLine(trigger)}\n  Then: ${formatLine(text)}${reason && ` (${reason.slice(2)})`}\n`;
  const line = formatLine(readItemText(item));
  const ago = memoryType === 'episodic' ? `, ${formatTimeAgo(timestamp, now)}` : '';
  const date = timeZone !== null && DATED.has(memoryType) ? formatDate(timestamp, timeZone) : '';
  return `- ${mark}${line} (${formatLine(source)}${date}${ago}${reason})\n`;
}

/** @throws ValidationError for a moment of a query that is no time. */
export function assertMoment(now: number): void {
  if (!isTime(now))
    throw new ValidationError(`now is no time: ${now}; pass milliseconds since 1970, such as those of a query`, {
      now,
    });
}

/** Options of a prompt. */
export interface PromptForm {
  /** The moment of the question in milliseconds since 1970, from which ages count. */
  readonly now: number;
  /** The zone of the dates of memories; null: the prompt has ages alone. */
  readonly timeZone: string | null;
  /** Each item begins with its id and ends with the reason why it was found, where its source gives one. */
  readonly cites: boolean;
}

/**
 * What a model is shown: the items by their types, in their order, with sources and ages. The same items give the same bytes.
 *
 * @throws ValidationError for a moment that is no time, and an unknown time zone.
 */
export function formatPrompt(query: string, items: readonly ContextItem[], form: PromptForm): string {
  assertMoment(form.now);
  const sections = SECTIONS.flatMap(([type, title]) => {
    const held = items.filter(({ memoryType }) => memoryType === type);
    return held.length === 0 ? [] : [`## ${title}\n${held.map((item) => formatItem(item, form)).join('')}`];
  });
  const records = items.filter(({ memoryType }) => memoryType === 'record').map((item) => formatItem(item, form));
  const results = records.length === 0 ? '' : `\n# Domain Database Query Results\n\n${records.join('')}`;
  return `# Retrieved Context

The following information from your memory may be relevant to the query: ${JSON.stringify(formatLine(query))}

${sections.join('\n')}${results}
Use this context to inform your response, but be clear about what you know vs. what you're inferring.
`;
}
