import { listCodeCells, type Notebook } from './notebook.ts';

/** The code of a notebook as one module, and the cell that each of its lines is from. */
export interface Extracted {
  readonly code: string;
  /** [lines] the cell and the line within it, from 1; null for a line between cells. */
  readonly origins: readonly ({ readonly cell: number; readonly line: number } | null)[];
}

/** Joins the code of all cells: a name that one cell declares is known in later ones. */
export function extractCode(notebook: Notebook): Extracted {
  const parts = listCodeCells(notebook).flatMap(({ number, code }) => [
    { text: `// cell ${number}`, origin: null },
    ...code.split('\n').map((text, at) => ({ text, origin: { cell: number, line: at + 1 } })),
  ]);
  // Without an export the compiler takes a file without imports for a script.
  const code = [...parts.map(({ text }) => text), 'export {};', ''].join('\n');
  return { code, origins: parts.map(({ origin }) => origin) };
}

/** Counts the lines of a cell that are neither empty nor a comment, an import or closing brackets alone. */
export function countLogicLines(code: string): number {
  const withoutImports = code.replace(/^import\b[^;]*;?$/gm, '').replace(/\/\*[\s\S]*?\*\//g, '');
  return withoutImports.split('\n').filter((line) => !/^\s*(\/\/.*|[\])};,]*)$/.test(line)).length;
}

const STATEMENT =
  /^(?:import|export|const|let|var|function|async function|class|type|interface|for|while|if|try|else|await use)\b/;

/** Whether the last statement of a cell is an expression, whose value a notebook shows. */
export function endsWithExpression(code: string): boolean {
  const last = code
    .split('\n')
    .filter((line) => line !== '' && !/^[\s})\]]/.test(line) && !line.startsWith('//'))
    .at(-1);
  return last !== undefined && !STATEMENT.test(last);
}
