import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Extracted, extractCode } from './code.ts';
import { NOTEBOOKS, ROOT } from './machine.ts';
import type { Notebook } from './notebook.ts';

/** Ignored by git; within notebooks, so that packages are found as in a notebook. */
const FOLDER = join(NOTEBOOKS, '.cells');

/** A message of the compiler, with the cell and its line instead of the line of the module. */
export function locateMessage(message: string, modules: ReadonlyMap<string, Extracted>): string {
  const [, name = '', line = '', text = ''] = /([^/\\]+)\.ts\((\d+),\d+\): (.*)$/.exec(message) ?? [];
  const origin = modules.get(name)?.origins[Number(line) - 1];
  return origin === null || origin === undefined
    ? message
    : `${name}, cell ${origin.cell}, line ${origin.line}: ${text}`;
}

/** Type-checks the code of notebooks. @returns a message for each error. */
export function checkTypes(notebooks: ReadonlyMap<string, Notebook>): string[] {
  const modules = new Map([...notebooks].map(([name, notebook]) => [name, extractCode(notebook)]));
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  try {
    for (const [name, { code }] of modules) writeFileSync(join(FOLDER, `${name}.ts`), code);
    const compiler = join(ROOT, 'node_modules', '.bin', 'tsc');
    const { stdout, stderr, status } = spawnSync(compiler, ['--noEmit', '--pretty', 'false', '-p', NOTEBOOKS], {
      encoding: 'utf8',
    });
    if (status === 0) return [];
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => locateMessage(line, modules));
  } finally {
    rmSync(FOLDER, { recursive: true, force: true });
  }
}
