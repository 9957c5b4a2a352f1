import { ValidationError } from '../../core/errors/errors.ts';
import { isId } from '../jsonl/jsonl-rows.ts';
import type { Counts } from '../prepared/prepared.ts';

/** A message on the channel. */
interface IrcMessage {
  /** The index of its line in the file, from 0, as used by annotations. */
  readonly line: number;
  /**
   * Milliseconds since 1970: its minute, and a millisecond more for each message before it in that minute, so that log
   * order is time order.
   */
  readonly timestamp: number;
  readonly nick: string;
  readonly text: string;
}

/** The content of one file of a channel's log. */
export interface IrcLog {
  /** The file's name without its ending. */
  readonly name: string;
  readonly lineCount: number;
  readonly messages: readonly IrcMessage[];
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?!\d)/;

const SYSTEM = /^===/;

/** `[03:41] <nick> text`, or `[03:41]  * nick text` for what a nick does. */
const MESSAGE = /^\[(\d\d):(\d\d)\]\s+(?:<([^>]*)>|\*\s(\S+))\s?(.*)$/s;

const SKIPPED = ['system lines', 'unreadable lines', 'messages without a text'];

const MINUTE_MILLISECONDS = 60_000;

const HALF_DAY = 720;

/** A clock that goes back by more than these minutes has wrapped; by less, it was corrected. */
const WRAPPED = 360;

/**
 * Reads a log. Lines of the server and messages without a text are no messages; they are counted.
 *
 * @param name the file's, which begins with the date of the first line.
 * @throws ValidationError for a name without a date.
 */
export function parseIrcLog(name: string, text: string, counts: Counts): IrcLog {
  const midnight = parseLogDate(name);
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  counts.add('lines read', lines.length);
  for (const skipped of SKIPPED) counts.add(`skipped: ${skipped}`, 0);
  const clock = new WrappingClock();
  const messages: IrcMessage[] = [];
  for (const [line, content] of lines.entries()) {
    const found = MESSAGE.exec(content);
    if (found === null) {
      counts.add(SYSTEM.test(content) ? 'skipped: system lines' : 'skipped: unreadable lines');
      continue;
    }
    const [, hours, minutes, speaker, actor, said = ''] = found;
    const timestamp = midnight + clock.unwrapClock(60 * Number(hours) + Number(minutes));
    if (said.trim() === '') counts.add('skipped: messages without a text');
    else messages.push({ line, timestamp, nick: (speaker ?? actor) as string, text: said.trim() });
  }
  return { name, lineCount: lines.length, messages };
}

function parseLogDate(name: string): number {
  const [, year, month, day] = DATE.exec(name) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T00:00Z`);
  if (!isId(name))
    throw new ValidationError(
      `file name is not one word: ${JSON.stringify(name)}; rename the file, since ids of messages start with it`,
      { name },
    );
  if (Number.isNaN(time))
    throw new ValidationError(`file name does not begin with a date: ${name}; rename the file as YYYY-MM-DD`, { name });
  return time;
}

/**
 * Minutes since midnight as a clock of 12 or of 24 hours shows them, to milliseconds that grow from line to line. Such
 * a clock falls back by about half a day or a day; what it hides is that many half days. A clock that goes back by less
 * stands still instead.
 */
class WrappingClock {
  #shown = 0;
  #wrapped = 0;
  #minute = Number.NEGATIVE_INFINITY;
  #inMinute = 0;

  unwrapClock(shown: number): number {
    if (this.#shown - shown > WRAPPED) while (shown + this.#wrapped < this.#minute) this.#wrapped += HALF_DAY;
    this.#shown = shown;
    const minute = Math.max(this.#minute, shown + this.#wrapped);
    this.#inMinute = minute === this.#minute ? this.#inMinute + 1 : 0;
    this.#minute = minute;
    return minute * MINUTE_MILLISECONDS + this.#inMinute;
  }
}
