/** A turn of a ranking, and why it is there. */
interface ShownReason {
  readonly id: string;
  readonly score: number;
  readonly parts: Readonly<Record<string, number>>;
  readonly tokens: number;
  /** True if it is in the prompt. */
  readonly packed: boolean;
  /** A sentence, for arms that have one. */
  readonly reason: { readonly sentence: string } | null;
}

/** Rows that are shown below a prompt. */
const SHOWN = 20;

/** `3. [x] 7.2130  mail-17  12 tokens  bm25 7.213` for each of the first turns, best first. */
export function formatReasons(ranking: readonly ShownReason[]): string {
  const lines = ranking.slice(0, SHOWN).map(({ id, score, parts, tokens, packed, reason }, i) => {
    const named = Object.entries(parts).map(([name, value]) => `${name} ${value.toFixed(3)}`);
    const why = reason === null ? '' : `\n      ${reason.sentence}`;
    return `${String(i + 1).padStart(4)}. ${packed ? '[x]' : '[ ]'} ${score.toFixed(4)}  ${id}  ${tokens} tokens  ${named.join(', ')}${why}`;
  });
  const more = ranking.length - lines.length;
  return [...lines, ...(more > 0 ? [`      and ${more} more`] : [])].join('\n');
}

/** A fact or record, and why it was found. */
export interface BesideItem {
  readonly id: string;
  readonly text: string;
  readonly why?: string;
  readonly tokens: number;
  /** True if it is in the prompt. */
  readonly packed: boolean;
}

/** `beside: [x] fact:f2  12 tokens  names Ann` a line each. */
export function formatBeside(items: readonly BesideItem[]): string {
  return items
    .map(({ id, why, tokens, packed }) =>
      `beside: ${packed ? '[x]' : '[ ]'} ${id}  ${tokens} tokens  ${why ?? ''}`.trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** Empty where every turn may be in the prompt. @param withheld how many sensitive turns may not. */
export function formatWithheld(withheld: number): string {
  if (withheld === 0) return '';
  return `withheld: ${withheld} sensitive turns; with --sensitive the prompt may hold them, and must stay on this machine\n`;
}
