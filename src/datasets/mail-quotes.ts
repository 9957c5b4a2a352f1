/** `>` alone, or after the initials of who is quoted, or as an arrow. */
const MARKED = /^\s*(?:[A-Za-z][\w.'-]{0,9}\s?|[=&])?>/;
/** Marks that open a quote only where several lines in a row bear them. */
const RUN_MARK = /^\s*([|:})])(?:[|:}>\s]|$)/;
/** A quote line that a mail program broke leaves its last words unmarked on a line of their own. */
const TAIL_WORDS = 3;

/** An attribution, such as `On Monday X wrote:`, takes at most so many lines. */
const ATTRIBUTION_REACH = 3;
const SAYING =
  '(?:wrote|writes|write|said|says|sez|mentioned|commented|replied|responded|asked|opined|added|claimed|noted|stated|' +
  'spake|scribbled|scrawled|typed|muttered|mumbled|ranted|posted|sent|whispered|uttered|expounded|quoth|declared|' +
  'thought|écrit|schrieb|escribi\\S+|skrev|schreef|wisdom included|have said|all like|to think)';
/** How the last line of an attribution ends: a verb of saying, a bracket, an address, a colon. */
const ATTRIBUTION_END = new RegExp(
  `\\b${SAYING}\\b[^.!?]{0,40}$|[>)\\]"']:?\\s*$|<[^<>\\s]+@[^<>\\s]+>[^.]{0,20}$|:\\s*$`,
  'i',
);
/** How its first line begins, or what it holds: a preposition, a bracket, a time, an address. */
const ATTRIBUTION_START =
  /^\s*(?:[*-]+\s*)?(?:on|at|in|quoting|from|once upon|thus|and thus|around|this one time|when|"|\[|le|am|el)\b|^\s*["[]|\d{1,2}:\d\d|[\w.-]+@[\w.-]+/i;
/** A single line that will do without such a beginning: `X wrote`, or a name and a colon. */
const ATTRIBUTION_LINE = new RegExp(`\\b${SAYING}\\b|^\\s*\\S+(?:\\s\\S+){0,3}:\\s*$`, 'i');
/** Attributions that give themselves away without a quote below them. */
const ATTRIBUTION_ALONE = new RegExp(
  `^\\s*[*-]*\\s*(?:(?:on|at|in|le|am)\\b.{8,220}|.{0,80}\\(?<?[\\w.+-]+@[\\w.-]+>?\\)?.{0,60})\\b${SAYING}\\b[^.!?]{0,30}:$`,
  'i',
);

/** What is left of a body, and how many lines went. */
export interface Unquoted {
  readonly lines: readonly string[];
  readonly quotes: number;
  readonly attributions: number;
}

/**
 * Drops the lines that quote other mails and those that say whom.
 *
 * @param lines without spaces at their ends.
 */
export function withoutQuotes(lines: readonly string[]): Unquoted {
  const quoted = quotedLines(lines);
  const attribution = new Array<boolean>(lines.length).fill(false);
  for (const i of lines.keys()) {
    const size = quoted[i] ? 0 : sizeOfLoneAttribution(lines, quoted, i);
    attribution.fill(true, i, i + size);
    if (quoted[i] && !quoted[i - 1]) attribution.fill(true, ...attributionAbove(lines, quoted, i));
  }
  return {
    lines: lines.filter((_, i) => !quoted[i] && !attribution[i]),
    quotes: quoted.filter(Boolean).length,
    attributions: attribution.filter(Boolean).length,
  };
}

/** [lines] true for a line that bears a quote's mark, and for a tail between two of them. */
function quotedLines(lines: readonly string[]): boolean[] {
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

/** Where the lines begin and end that introduce a quote, empty lines between not counted; begin = end where none do. */
function attributionAbove(
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

function sizeOfLoneAttribution(lines: readonly string[], quoted: readonly boolean[], begin: number): number {
  for (let size = 1; size <= ATTRIBUTION_REACH; size++) {
    const last = lines[begin + size - 1];
    if (last === undefined || last === '' || quoted[begin + size - 1]) return 0;
    // The cheap test first: the expression is slow on lines that it does not match.
    if (last.endsWith(':') && ATTRIBUTION_ALONE.test(lines.slice(begin, begin + size).join(' '))) return size;
  }
  return 0;
}
