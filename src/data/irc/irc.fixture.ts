import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** 1,000 lines of context, four a minute, line 3 of each ten from the server; then the lines given, at 05:00. */
export function buildSampleLog(said: readonly string[]): string {
  const context = Array.from({ length: 1000 }, (_, i) => {
    const minutes = Math.floor(i / 4);
    const clock = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
    return i % 10 === 3 ? `=== nick${i} has joined #kitchen` : `[${clock}] <nick${i % 7}> words of line ${i}`;
  });
  return `${[...context, ...said].join('\n')}\n`;
}

/** A log of the sample: what is said after the context, and the links. */
export interface SampleLog {
  readonly said: readonly string[];
  readonly links: readonly string[];
}

/** Writes logs by `folder/name` as the loader wants them and gives the path of the whole. */
export function writeIrcSample(logs: Readonly<Record<string, SampleLog>>): string {
  const path = mkdtempSync(join(tmpdir(), 'irc-'));
  for (const [place, { said, links }] of Object.entries(logs)) {
    mkdirSync(join(path, place, '..'), { recursive: true });
    writeFileSync(join(path, `${place}.ascii.txt`), buildSampleLog(said));
    writeFileSync(join(path, `${place}.annotation.txt`), links.map((link) => `${link} - \n`).join(''));
  }
  return path;
}
