import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { RagPlusPlusError, ValidationError } from '../../src/core/errors/errors.ts';
import { writeAtomic } from '../../src/core/files/files.ts';
import { suggestKnown } from '../../src/core/validation/validation.ts';
import { cleanNotebook, formatNotebook } from './clean.ts';
import { compareOutputs, findCellFaults, findOutputFaults } from './differences.ts';
import { executeNotebook } from './execution.ts';
import { buildPackage, findPython, installPackages, NOTEBOOKS } from './machine.ts';
import { type Notebook, readNotebook } from './notebook.ts';
import { checkTypes } from './types.ts';

const USAGE = `usage: npm run notebooks -- [NAME...] [--write]

Executes the notebooks, or those whose names begin with a NAME, and compares their outputs with the committed ones.
  --write  writes the new outputs into the notebooks instead`;

const ENDING = '.ipynb';

function listNames(): string[] {
  return readdirSync(NOTEBOOKS)
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .sort();
}

/** The notebooks that some words select: all without a word. @throws ValidationError for a word that selects none. */
function selectNames(words: readonly string[]): string[] {
  const names = listNames();
  for (const word of words)
    if (!names.some((name) => name.startsWith(word)))
      throw new ValidationError(`no notebook has the name: ${word}; use ${suggestKnown(word, names)}`, { word });
  return names.filter((name) => words.length === 0 || words.some((word) => name.startsWith(word)));
}

const locate = (name: string) => join(NOTEBOOKS, name + ENDING);

/** Executes a notebook and prints what it found. @returns whether all is well. */
async function runNotebook(python: string, name: string, committed: Notebook, write: boolean): Promise<boolean> {
  const { notebook, failure, seconds, remarks } = await executeNotebook(python, locate(name), committed);
  if (notebook === null) {
    console.log(`${name}: failed after ${seconds.toFixed(0)} s\n${failure}`);
    return false;
  }
  const cleaned = cleanNotebook(notebook);
  const faults = [...findOutputFaults(cleaned), ...(write ? [] : compareOutputs(committed, cleaned))];
  const verdict = faults.length === 0 ? 'executed' : `${faults.length} faults`;
  console.log([`${name}: ${verdict}, ${seconds.toFixed(0)} s`, ...remarks, ...faults].join('\n  '));
  if (write && faults.length === 0) writeAtomic(locate(name), formatNotebook(cleaned));
  return faults.length === 0;
}

/** Types, lengths of cells, then executions; everything is reported before the end. */
async function run(words: readonly string[], write: boolean): Promise<boolean> {
  const notebooks = new Map(selectNames(words).map((name) => [name, readNotebook(locate(name))]));
  const python = findPython();
  installPackages();
  buildPackage();
  const cellFaults = [...notebooks].flatMap(([name, notebook]) =>
    findCellFaults(notebook).map((fault) => `${name}: ${fault}`),
  );
  const faults = [...cellFaults, ...checkTypes(notebooks)];
  for (const fault of faults) console.log(fault);
  let isWell = faults.length === 0;
  for (const [name, notebook] of notebooks) isWell = (await runNotebook(python, name, notebook, write)) && isWell;
  return isWell;
}

/** Exits with 1 for a notebook that fails, with 2 for a wrong option. */
async function main(): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { write: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
    });
    if (values.help) {
      console.log(USAGE);
      return 0;
    }
    return (await run(positionals, values.write)) ? 0 : 1;
  } catch (error) {
    const isOption = error instanceof TypeError && 'code' in error; // node:util parseArgs
    if (!isOption && !(error instanceof RagPlusPlusError)) throw error;
    console.error(error.message);
    return isOption || error instanceof ValidationError ? 2 : 1;
  }
}

process.exitCode = await main();
