/** Lines that say what a process died of: of Node, of our command line, of Slurm. */
const REASON = /(?:^|\s)(?:FATAL ERROR|(?:[A-Z]\w*)?Error\b|ragpp\b|slurmstepd: error)/;

/** Places in code and what Node signs with, which follow a reason. */
const TRAILER = /^\s*(?:at .*|\d+: 0x[0-9a-f]+ .*|Node\.js v\S+|-+ Native stack trace -+)?$/;

/**
 * The line of a dead process's complaint that says most: the last one with a reason, else the last one that is no place in code; empty where there is none. A reason
 * that announces a list, as an error in a config does, comes with the first of it.
 */
export function findLastWords(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !TRAILER.test(line));
  const at = lines.findLastIndex((line) => REASON.test(line));
  const line = (lines.at(at) ?? '').trim();
  const announced = line.endsWith(':') && at >= 0 ? (lines[at + 1] ?? '').trim() : '';
  return announced === '' ? line : `${line} ${announced}`;
}
