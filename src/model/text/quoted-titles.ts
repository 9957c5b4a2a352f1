/** The text between quotation marks on one line; a single mark inside a word is an apostrophe. */
const QUOTED = /"([^"\n]+)"|“([^”\n]+)”|(?<![\p{L}\p{N}])['‘]((?:[^'’\n]|['’](?=\p{L}))+)['’](?!\p{L})/uy;
const OPENING = /["“]|(?<![\p{L}\p{N}])['‘]/gu;
const CLOSING_SINGLE = /['’](?!\p{L})/gu;
const TITLE_WORDS = { least: 2, most: 12 };

/** Words of a title between quotation marks, without the marks at its ends. */
export function parseTitle(quoted: string): string | null {
  const words = quoted.toLowerCase().replaceAll('’', "'").match(/\S+/g) ?? [];
  if (words.length < TITLE_WORDS.least || words.length > TITLE_WORDS.most) return null;
  return words.join(' ').replace(/[.,;:!?]+$/, '');
}

/**
 * A line with another text for what stands between quotation marks. A mark behind the last closing one of its kind is skipped, since each of them would read the rest
 * of the line.
 */
export function replaceQuoted(line: string, replace: (quoted: string, content: string) => string): string {
  const lastSingle = [...line.matchAll(CLOSING_SINGLE)].at(-1)?.index ?? -1;
  const lastOf = new Map([
    ['"', line.lastIndexOf('"')],
    ['“', line.lastIndexOf('”')],
  ]);
  let replaced = '';
  let copied = 0;
  for (const { 0: mark, index } of line.matchAll(OPENING)) {
    if (index < copied || index >= (lastOf.get(mark) ?? lastSingle)) continue;
    QUOTED.lastIndex = index;
    const found = QUOTED.exec(line);
    if (found === null) continue;
    replaced += line.slice(copied, index) + replace(found[0], (found[1] ?? found[2] ?? found[3]) as string);
    copied = QUOTED.lastIndex;
  }
  return replaced + line.slice(copied);
}
