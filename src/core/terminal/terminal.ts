/** Characters that a terminal obeys instead of showing, line feed and tab aside: those of C0 and C1, and what turns the direction of writing. */
const CONTROL = /(?![\n\t])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text whose control characters are written out, as `\u001b`, which JSON reads as the character. Names and texts of data may hold any. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Writes to stdout what {@link escapeControls} makes of a text. */
export function printOut(text: string): void {
  process.stdout.write(escapeControls(text));
}

/** Writes to stderr what {@link escapeControls} makes of a text. */
export function printError(text: string): void {
  process.stderr.write(escapeControls(text));
}

/** Restores the cursor and the wrapping of lines of a terminal after a progress bar, if stderr is a terminal. */
export function restoreTerminal(): void {
  if (process.stderr.isTTY) process.stderr.write('\x1b[?25h\x1b[?7h');
}
