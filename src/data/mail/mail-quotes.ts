import { hashShingles, RunNumbers, splitIntoTokens, Vocabulary } from './shingles.ts';

/** Length of the runs of words that two mails do not share by chance. */
const RUN = 8;
/** A line at least this covered by runs of an earlier mail is that mail's. */
const COVERED = 0.5;

/** Lines beside earlier bodies. */
interface ComparedLines {
  /** [T] the numbers of the words of all the lines. */
  readonly tokens: Int32Array;
  /** The lines that no earlier body has. */
  readonly unsaid: readonly string[];
}

/**
 * The lines of earlier mails: mails are added in time order, and each reports which of its lines an earlier mail
 * contains.
 */
export class EarlierBodies {
  readonly #runs = new RunNumbers();
  readonly #vocabulary = new Vocabulary();

  /** Adds a raw body, quotes and all. O(tokens). */
  add(body: string): void {
    for (const run of hashShingles(this.#vocabulary.encode(splitIntoTokens(body)), RUN)) this.#runs.add(run);
  }

  /** The tokens of lines, and which of these are less than half covered by runs of earlier bodies. O(tokens). */
  compareLines(lines: readonly string[]): ComparedLines {
    const tokens = lines.map(splitIntoTokens);
    const numbers = this.#vocabulary.encode(tokens.flat());
    const covered = this.#markCoveredTokens(numbers);
    let start = 0;
    const unsaid = lines.filter((_, i) => {
      const length = (tokens[i] as string[]).length;
      const end = start + length;
      const count = covered.subarray(start, end).reduce((sum, flag) => sum + flag, 0);
      start = end;
      return length === 0 || count < COVERED * length;
    });
    return { tokens: numbers, unsaid };
  }

  /** [T] 1 if a token is in a run of an earlier body. */
  #markCoveredTokens(tokens: Int32Array): Uint8Array {
    const covered = new Uint8Array(tokens.length);
    const runs = hashShingles(tokens, RUN);
    for (let start = 0; start < runs.length; start++)
      if (this.#runs.find(runs[start] as number) >= 0) covered.fill(1, start, start + RUN);
    return covered;
  }
}

/** `>` alone, or after the initials of who is quoted, or as an arrow. */
const MARKED = /^\s*(?:[A-Za-z][\w.'-]{0,9}\s?|[=&])?>/;
/** Marks that open a quote only where several lines in a row bear them. */
const RUN_MARK = /^\s*([|:})])(?:[|:}>\s]|$)/;
/** A quote line that a mail program broke leaves its last words unmarked on a line of their own. */
const TAIL_WORDS = 3;

/** An attribution, such as `On Monday X wrote:`, has at most this number of lines. */
const ATTRIBUTION_REACH = 3;
const SAYING =
  '(?:wrote|writes|write|said|says|sez|mentioned|commented|replied|responded|asked|opined|added|claimed|noted|stated|' +
  'spake|scribbled|scrawled|typed|muttered|mumbled|ranted|posted|sent|whispered|uttered|expounded|quoth|declared|' +
  'thought|écrit|schrieb|escribi\\S{1,12}|skrev|schreef|wisdom included|have said|all like|to think)';
/** The end of the last line of an attribution: a verb of saying, a bracket, an address, a colon. */
const ATTRIBUTION_END = new RegExp(
  `\\b${SAYING}\\b[^.!?]{0,40}$|[>)\\]"']:?\\s*$|<[^<>\\s][^<>\\s@]*@[^<>\\s]+>[^.]{0,20}$|:\\s*$`,
  'i',
);
/** The begin or content of its first line: a preposition, a bracket, a time, an address. */
const ATTRIBUTION_START =
  /^\s*(?:[*-]+\s*)?(?:on|at|in|quoting|from|once upon|thus|and thus|around|this one time|when|"|\[|le|am|el)\b|^\s*["[]|\d{1,2}:\d\d|[\w.-]@[\w.-]/i;
/** A single line that needs no such beginning: `X wrote`, or a name and a colon. */
const ATTRIBUTION_LINE = new RegExp(`\\b${SAYING}\\b|^\\s*\\S+(?:\\s\\S+){0,3}:\\s*$`, 'i');
/** The words after the verb of saying in an attribution that is recognised without a quote below it. */
const AFTER_SAYING = 30;
const SAYING_AT_END = new RegExp(`\\b${SAYING}\\b(?=[^.!?]{0,${AFTER_SAYING}}:$)`, 'gi');
const LONGEST_SAYING = 20;
/** Such an attribution begins with a preposition, or has an address in it so near to its ends. */
const PREPOSITION = /^(?:on|at|in|le|am)\b/i;
const AFTER_PREPOSITION = { least: 8, most: 220 };
const ADDRESS = /@(?<=(\(?<?[\w.+-]+)@)[\w.-]+>?\)?/g;
const BEFORE_ADDRESS = 80;
const AFTER_ADDRESS = 60;

/** The rest of a body, and the number of lines removed. */
interface Unquoted {
  readonly lines: readonly string[];
  readonly quotes: number;
  readonly attributions: number;
}

/**
 * Removes lines that quote other mails, and their attributions.
 *
 * @param lines without spaces at their ends.
 */
export function withoutQuotes(lines: readonly string[]): Unquoted {
  const quoted = markQuotedLines(lines);
  const attribution = new Array<boolean>(lines.length).fill(false);
  for (const i of lines.keys()) {
    const size = quoted[i] ? 0 : measureLoneAttribution(lines, quoted, i);
    attribution.fill(true, i, i + size);
    if (quoted[i] && !quoted[i - 1]) attribution.fill(true, ...findAttributionAbove(lines, quoted, i));
  }
  return {
    lines: lines.filter((_, i) => !quoted[i] && !attribution[i]),
    quotes: quoted.filter(Boolean).length,
    attributions: attribution.filter(Boolean).length,
  };
}

/** [lines] true for a line that bears a quote's mark, and for a tail between two of them. */
function markQuotedLines(lines: readonly string[]): boolean[] {
  const marked = lines.map((line, i) => MARKED.test(line) || isInRun(lines, i));
  return lines.map((line, i) => marked[i] || (marked[i - 1] === true && marked[i + 1] === true && isTail(line)));
}

function isInRun(lines: readonly string[], i: number): boolean {
  const mark = RUN_MARK.exec(lines[i] as string)?.[1];
  if (mark === undefined) return false;
  return RUN_MARK.exec(lines[i - 1] ?? '')?.[1] === mark || RUN_MARK.exec(lines[i + 1] ?? '')?.[1] === mark;
}

function isTail(line: string): boolean {
  return line !== '' && !line.startsWith(' ') && line.split(/\s+/).length <= TAIL_WORDS;
}

/** The begin and end of the lines that introduce a quote, without empty lines; begin = end if there are none. */
function findAttributionAbove(
  lines: readonly string[],
  quoted: readonly boolean[],
  firstQuoted: number,
): [begin: number, end: number] {
  let end = firstQuoted;
  while (lines[end - 1] === '') end--;
  const last = lines[end - 1];
  if (last === undefined || quoted[end - 1] || !ATTRIBUTION_END.test(last)) return [end, end];
  for (let begin = end - 1; begin >= Math.max(end - ATTRIBUTION_REACH, 0); begin--) {
    const line = lines[begin] as string;
    if (line === '' || quoted[begin]) break;
    if (ATTRIBUTION_START.test(line)) return [begin, end];
  }
  return ATTRIBUTION_LINE.test(last) ? [end - 1, end] : [end, end];
}

function measureLoneAttribution(lines: readonly string[], quoted: readonly boolean[], begin: number): number {
  for (let size = 1; size <= ATTRIBUTION_REACH; size++) {
    const last = lines[begin + size - 1];
    if (last === undefined || last === '' || quoted[begin + size - 1]) return 0;
    if (last.endsWith(':') && isLoneAttribution(lines.slice(begin, begin + size).join(' '))) return size;
  }
  return 0;
}

/** True if a text that ends in a colon names the author of the following text. */
function isLoneAttribution(text: string): boolean {
  const told = text.replace(/^\s*[*-]*\s*/, '');
  SAYING_AT_END.lastIndex = Math.max(0, told.length - LONGEST_SAYING - AFTER_SAYING - 1);
  for (let said = SAYING_AT_END.exec(told); said !== null; said = SAYING_AT_END.exec(told))
    if (namesSomebody(told.slice(0, said.index))) return true;
  return false;
}

/** True if a text contains a time or an address of an attribution. */
function namesSomebody(text: string): boolean {
  const preposition = PREPOSITION.exec(text);
  const { least, most } = AFTER_PREPOSITION;
  const rest = text.length - (preposition?.[0].length ?? 0);
  if (preposition !== null && rest >= least && rest <= most) return true;
  for (const found of text.matchAll(ADDRESS)) {
    const start = found.index - (found[1] as string).length;
    const end = found.index + found[0].length;
    if (start <= BEFORE_ADDRESS && text.length - end <= AFTER_ADDRESS) return true;
  }
  return false;
}
