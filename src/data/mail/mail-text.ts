import type { StartProgress } from '../../core/terminal/progress.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Counts } from '../prepared/prepared.ts';
import { EarlierBodies, withoutQuotes } from './mail-quotes.ts';
import type { DatedMail } from './read-mails.ts';
import { findFirstCopies, splitIntoTokens } from './shingles.ts';
import { type Link, liftLinks } from './thread-parents.ts';

/** The lines cut from one mail's body, by kind. */
interface CutLines {
  readonly armour: number;
  readonly forwarded: number;
  readonly footer: number;
  readonly signature: number;
  readonly headers: number;
}

/** A step of the cleaning: lines in, the lines that stay out. */
type Step = (lines: readonly string[]) => readonly string[];

const STEPS: readonly (readonly [keyof CutLines, Step])[] = [
  ['armour', withoutArmour],
  ['forwarded', withoutForwarded],
  ['footer', withoutFooter],
  ['signature', withoutSignature],
  ['headers', withoutHeaderBlocks],
];

/**
 * Cuts text that the author did not write for this thread, except quotes, from a decoded body: PGP armour, forwarded
 * mails, list footers, signatures, header blocks.
 */
export function withoutMatter(body: string): { readonly lines: readonly string[]; readonly cut: CutLines } {
  const cut = { armour: 0, forwarded: 0, footer: 0, signature: 0, headers: 0 };
  let lines: readonly string[] = body.split('\n').map((line) => line.trimEnd());
  for (const [name, step] of STEPS) {
    const kept = step(lines);
    cut[name] = lines.length - kept.length;
    lines = kept;
  }
  return { lines, cut };
}

const QUOTE_PREFIX = '(?:[>|:}][>|:}\\s]*)?';
const ARMOUR_BEGIN = new RegExp(`^${QUOTE_PREFIX}-----BEGIN PGP (.+)-----`);

/**
 * Drops PGP's frame around a signed text, its signatures and its keys; undoes the dashes with which it escapes lines.
 */
export function withoutArmour(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let inside: 'text' | 'frame' | 'block' = 'text';
  let signed = false;
  for (const line of lines) {
    const begin = ARMOUR_BEGIN.exec(line)?.[1];
    if (begin !== undefined) {
      inside = begin.startsWith('SIGNED') ? 'frame' : 'block';
      signed = true;
    } else if (inside === 'frame') {
      if (!/^[>|:}\s]*\w+: /.test(line)) inside = 'text';
    } else if (inside === 'block') {
      if (/-----END PGP .+-----/.test(line)) inside = 'text';
    } else kept.push(signed ? line.replace(/^- (?=-)/, '') : line);
  }
  return kept;
}

/**
 * Quote marks and spaces before a line's first word. One part of the expression matches spaces: with two, every
 * division of them would be tried.
 */
const INDENT = '(?:[>|:}][>|:}\\s]*|\\s*)';

const FORWARD_END = new RegExp(`^${INDENT}-{2,}\\s*(?:end (?:of )?(?:the )?(?:original|forward)|end forward)`, 'i');
const FORWARD_BEGIN =
  /^(?:[-_=*8<]{2,}\s*(?:begin |start of )?(?:the )?(?:forwarded|original)(?: (?:message|text|mail|email|article|by|from)|\s*[-_=*:]*$)|begin forwarded message:?$)/i;

/**
 * Drops forwarded and appended mails: to their end mark if one follows; else to the end of the body, unless quote marks
 * show where they end.
 */
export function withoutForwarded(lines: readonly string[]): string[] {
  const kept: string[] = [];
  const ends = lines.map((line) => FORWARD_END.test(line));
  const lastEnd = ends.lastIndexOf(true);
  let quotedBelow: readonly boolean[] | null = null;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    if (ends[i]) continue;
    if (!FORWARD_BEGIN.test(line.trim())) {
      kept.push(line);
      continue;
    }
    if (i < lastEnd) i = ends.indexOf(true, i);
    else {
      quotedBelow ??= areQuotedBelowHeaders(lines);
      if (!quotedBelow[i + 1]) break;
    }
  }
  return kept;
}

/** [lines + 1] true where the first line from here on that is neither empty nor set in nor a header is quoted. */
function areQuotedBelowHeaders(lines: readonly string[]): boolean[] {
  const quoted = new Array<boolean>(lines.length + 1).fill(false);
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = lines[i] as string;
    const passed = line === '' || HEADER_LINE.test(line) || /^\s/.test(line);
    quoted[i] = passed ? (quoted[i + 1] as boolean) : line.startsWith('>');
  }
  return quoted;
}

/** First lines of what list servers and free mail services append; what follows one is appended too. */
const FOOTERS: readonly RegExp[] = [
  /^\s*_{20,}\s*$/,
  /^-{40,}$/,
  /^(?:-\.|=-){20,}[-=]?$/,
  /^-+ ?ADVERTISEMENT ?-+$/,
  /^https?:\/\/(?=\S+$)\S+?\/listinfo\/\S/,
  /^To unsubscribe(?: from this group)?,? (?:send|e-?mail|mail|visit|go|from)/i,
  /^Your use of Yahoo! Groups is subject to/,
  /^(?:_+\s*)?(?:Do You Yahoo!\?|Get your free download of MSN|Send and receive Hotmail|MSN Photos is the easiest|Chat with friends online, try MSN|Join the world.s largest e-mail service)/i,
];

/** Words in appended lines; without them a rule of dashes is the author's own. */
const FOOTER_WORDS =
  /mailing list|list maintainer|listinfo|subscribe\b|subscription|sf\.net email is|sponsored by|yahoo|hotmail|msn\.com|archive/i;
const FOOTER_REACH = 7;

/**
 * Cuts the body at the first footer that follows a text and whose next lines speak as footers do; advertisements
 * between texts go alone.
 */
export function withoutFooter(lines: readonly string[]): readonly string[] {
  const texts = withoutSponsor(lines);
  const first = texts.findIndex((line) => line !== '');
  const start = texts.findIndex(
    (line, i) =>
      i > first &&
      FOOTERS.some((footer) => footer.test(line)) &&
      speaksAsFooter(texts.slice(i, i + FOOTER_REACH).join('\n')),
  );
  return start < 0 ? texts : texts.slice(0, start);
}

function speaksAsFooter(text: string): boolean {
  return FOOTER_WORDS.test(text) || text.split(/\s+/).some(isListPage);
}

/**
 * True if a word has the address of a list's page in it. The first `http://` will do, so that a word of many is read
 * once.
 */
function isListPage(word: string): boolean {
  const scheme = /https?:\/\//i.exec(word);
  return scheme !== null && /\/(?:list|mail)/i.test(word.slice(scheme.index + scheme[0].length + 1));
}

/** The box that Yahoo! Groups puts above or below a text. */
function withoutSponsor(lines: readonly string[]): readonly string[] {
  const begin = lines.findIndex((line) => /^-{10,} Yahoo! Groups Sponsor -+/.test(line));
  if (begin < 0) return lines;
  const end = lines.findIndex((line, i) => i > begin && /^-{10}[~_-]*->$/.test(line));
  return end < 0 ? lines.slice(0, begin) : [...lines.slice(0, begin), ...lines.slice(end + 1)];
}

const SIGNATURE_REACH = 15;

/** Cuts at `-- `, unless more own text follows than a signature has. */
export function withoutSignature(lines: readonly string[]): readonly string[] {
  let start = -1;
  let below = 0;
  for (let i = lines.length - 1; i >= 0 && below <= SIGNATURE_REACH; i--) {
    const line = lines[i] as string;
    if (/^--\s*$/.test(line)) start = i;
    if (line !== '' && !line.startsWith('>')) below++;
  }
  return start < 0 ? lines : lines.slice(0, start);
}

const HEADER_LINE = new RegExp(
  `^${INDENT}\\*?(?:From|Sent|To|Cc|Bcc|Subject|Date|Reply-To|Sender|Message-ID|In-Reply-To|References|Organi[sz]ation|Newsgroups|Resent-\\w+|Received|Return-Path|Delivered-To|X-[\\w-]+|MIME-Version|Content-[\\w-]+|Importance|Von|An|Betreff|Gesendet|De|Fecha|Para|Asunto|Objet):`,
  'i',
);

/** Headers that reveal the thread, or are not written by a person, also if they are alone. */
const LONE_HEADER = new RegExp(
  `^${QUOTE_PREFIX}(?:Subject|Message-ID|In-Reply-To|References|Content-[\\w-]+):\\s`,
  'i',
);

/**
 * Drops mail headers inside the body, two lines or more in a row with their folded continuations, or alone where they
 * name the parent.
 */
export function withoutHeaderBlocks(lines: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < lines.length; ) {
    const end = findHeaderBlockEnd(lines, i);
    if (end === i) kept.push(lines[i++] as string);
    else i = end;
  }
  return kept;
}

function findHeaderBlockEnd(lines: readonly string[], start: number): number {
  let headers = 0;
  let end = start;
  for (; end < lines.length; end++) {
    const line = lines[end] as string;
    if (HEADER_LINE.test(line)) headers++;
    else if (headers === 0 || !/^[>|:}]*[ \t]{2,}\S|^\t\S/.test(line)) break;
  }
  return headers >= 2 || (headers === 1 && LONE_HEADER.test(lines[start] as string)) ? end : start;
}

/** A mail whose text is its author's own. */
export interface CleanMail {
  readonly mail: DatedMail;
  readonly time: number;
  readonly text: string;
  readonly tokens: number;
  /** The first mail with the same text, null for that one itself. */
  readonly copyOf: string | null;
}

const UPDATE_EVERY = 50;

/** Cleans the texts in time order; mails may come out empty. */
export function cleanMails(
  mails: ReadonlyMap<string, DatedMail>,
  times: ReadonlyMap<string, number>,
  counts: Counts,
  progress: StartProgress,
): CleanMail[] {
  const ordered = [...mails.values()].sort(
    (a, b) => (times.get(a.id) as number) - (times.get(b.id) as number) || compareBytes(a.id, b.id),
  );
  const shown = progress('clean texts', ordered.length);
  const earlier = new EarlierBodies();
  const unquoted: Int32Array[] = [];
  const texts = ordered.map((mail, i) => {
    const lines = dropForeignLines(mail.body, counts);
    const { tokens, unsaid } = earlier.compareLines(lines);
    counts.add('lines cut: said in an earlier mail', lines.length - unsaid.length);
    earlier.add(mail.body);
    unquoted.push(tokens);
    if (i % UPDATE_EVERY === 0) shown.update(i);
    return unsaid
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  });
  // Finds copies before common lines are removed: the second copy has no text afterwards.
  const copies = findFirstCopies(unquoted);
  shown.finish();
  return ordered.map((mail, i) => ({
    mail,
    time: times.get(mail.id) as number,
    text: texts[i] as string,
    tokens: splitIntoTokens(texts[i] as string).length,
    copyOf: ordered[copies[i] as number]?.id ?? null,
  }));
}

function dropForeignLines(body: string, counts: Counts): readonly string[] {
  const { lines, cut } = withoutMatter(body);
  for (const [name, amount] of Object.entries(cut)) counts.add(`lines cut: ${name}`, amount);
  const { quotes, attributions, ...own } = withoutQuotes(lines);
  counts.add('lines cut: quotes', quotes);
  counts.add('lines cut: attributions', attributions);
  return own.lines;
}

/** Mails that stay, how they hang together, and those that don't stay; both in time order. */
export interface Selection {
  readonly kept: readonly CleanMail[];
  readonly dropped: readonly CleanMail[];
  readonly links: ReadonlyMap<string, Link>;
}

/** Drops mails without text, near-duplicates but the first, and bulk mail that answers nothing. */
export function selectMails(mails: readonly CleanMail[], links: ReadonlyMap<string, Link>, counts: Counts): Selection {
  const copies = new Map<string, string>();
  for (const { mail, copyOf } of mails) if (copyOf !== null) copies.set(mail.id, copyOf);
  const firsts = mails.filter((item) => item.copyOf === null);
  const written = firsts.filter((item) => item.tokens > 0);
  const answering = liftLinks(collectMailIds(written), links, copies);
  // That a later mail answers a newsletter does not keep the newsletter: it would be there because it is an answer.
  const kept = written.filter((item) => !item.mail.bulk || answering.has(item.mail.id));
  counts.add('dropped: near-duplicates', copies.size);
  counts.add('dropped: no text of their own', firsts.length - written.length);
  counts.add('dropped: newsletters that answer nothing', written.length - kept.length);
  const stays = new Set(kept);
  const dropped = mails.filter((item) => !stays.has(item));
  return { kept, dropped, links: liftLinks(collectMailIds(kept), links, copies) };
}

function collectMailIds(items: readonly CleanMail[]): Set<string> {
  return new Set(items.map(({ mail }) => mail.id));
}
