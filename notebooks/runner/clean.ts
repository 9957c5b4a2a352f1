import { type Cell, joinText, type Notebook, type Output } from './notebook.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with the control character.
const ANSI = /\u001b\[[0-9;]*m/g;

function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function cleanText(value: unknown): unknown {
  if (typeof value === 'string') return splitLines(value.replace(ANSI, ''));
  if (Array.isArray(value) && value.every((line) => typeof line === 'string')) return cleanText(value.join(''));
  return value;
}

function cleanOutput(output: Output, count: number): object {
  const { output_type, name, text, data, ename, evalue } = output;
  if (output_type === 'stream') return { name, output_type, text: cleanText(joinText(text ?? '')) };
  if (output_type === 'error') return { ename, evalue, output_type, traceback: [] };
  const cleaned = Object.fromEntries(
    Object.entries(data ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([type, value]) => [type, cleanText(value)]),
  );
  return {
    data: cleaned,
    ...(output_type === 'execute_result' ? { execution_count: count } : {}),
    metadata: {},
    output_type,
  };
}

const KERNEL = {
  kernelspec: { display_name: 'Deno', language: 'typescript', name: 'deno' },
  language_info: { file_extension: '.ts', mimetype: 'text/x.typescript', name: 'typescript' },
};

/**
 * A notebook as it is committed: the same execution gives the same bytes. Without times, colours of a terminal, and the state of widgets; cells are numbered from 1.
 */
export function cleanNotebook({ cells }: Notebook): Notebook {
  let count = 0;
  const cleaned = cells.map((cell, at): Cell => {
    const shared = {
      cell_type: cell.cell_type,
      id: `cell-${at + 1}`,
      metadata: {},
      source: splitLines(joinText(cell.source)),
    };
    if (cell.cell_type !== 'code') return shared;
    count++;
    const number = count;
    return {
      ...shared,
      execution_count: number,
      outputs: (cell.outputs ?? []).map((output) => cleanOutput(output, number)),
    } as unknown as Cell;
  });
  return { cells: cleaned, metadata: KERNEL, nbformat: 4, nbformat_minor: 5 };
}

/** The file of a notebook: keys in order, one space of indentation, as Jupyter writes it. */
export function formatNotebook(notebook: Notebook): string {
  return `${JSON.stringify(notebook, null, 1)}\n`;
}
