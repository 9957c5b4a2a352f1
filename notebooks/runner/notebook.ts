import { readFileSync } from 'node:fs';

/** A text of a notebook file: one string or its lines. */
type Text = string | readonly string[];

export interface Output {
  readonly output_type: 'stream' | 'display_data' | 'execute_result' | 'error';
  /** Of a stream. */
  readonly name?: string;
  readonly text?: Text;
  /** By MIME type. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly ename?: string;
  readonly evalue?: string;
}

export interface Cell {
  readonly cell_type: 'code' | 'markdown' | 'raw';
  readonly id?: string;
  readonly source: Text;
  readonly outputs?: readonly Output[];
}

/** The part of the notebook format that the runner reads; https://nbformat.readthedocs.io, version 4. */
export interface Notebook {
  readonly cells: readonly Cell[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly nbformat: number;
  readonly nbformat_minor: number;
}

export function readNotebook(path: string): Notebook {
  return JSON.parse(readFileSync(path, 'utf8')) as Notebook;
}

export function joinText(text: Text): string {
  return typeof text === 'string' ? text : text.join('');
}

/** The cells with code, numbered from 1. */
export function listCodeCells({
  cells,
}: Notebook): { readonly number: number; readonly code: string; readonly outputs: readonly Output[] }[] {
  return cells
    .filter(({ cell_type }) => cell_type === 'code')
    .map(({ source, outputs = [] }, at) => ({ number: at + 1, code: joinText(source), outputs }));
}
