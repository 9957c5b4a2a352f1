/** Lines that say what a process died of: of Node, of our command line, of Slurm. */
const REASON = /(?:^|\s)(?:FATAL ERROR|(?:[A-Z]\w*)?Error\b|ragpp\b|slurmstepd: error)/;

/** Places in code and what Node signs with, which follow a reason. */
const TRAILER = /^\s*(?:at .*|\d+: 0x[0-9a-f]+ .*|Node\.js v\S+|-+ Native stack trace -+)?$/;

/** The line of a dead process's complaint that says most: the last one with a reason, else the last one that is no place in code; empty where there is none. */
export function findLastWords(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !TRAILER.test(line));
  return (lines.findLast((line) => REASON.test(line)) ?? lines.at(-1) ?? '').trim();
}
