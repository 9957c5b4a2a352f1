import { countTracePoints, type PlotlyFigure } from '../../src/model/figures/figure.ts';
import { countLogicLines, endsWithExpression } from './code.ts';
import { listCodeCells, type Notebook, type Output } from './notebook.ts';

const PLOTLY = 'application/vnd.plotly.v1+json';
/** The most lines of logic in a cell, so that a reader sees what it does. */
export const CELL_LINES = 10;

/** What kind of output a cell has: the MIME types of a value, the name of a stream. */
export function describeKind(output: Output): string {
  if (output.output_type === 'stream') return `stream ${output.name}`;
  if (output.output_type === 'error') return `error ${output.ename}`;
  return Object.keys(output.data ?? {})
    .sort()
    .join(' + ');
}

function describeKinds(outputs: readonly Output[]): string {
  return outputs.length === 0 ? 'no output' : outputs.map(describeKind).join(', then ');
}

function isEmptyFigure({ data }: Output): boolean {
  const figure = data?.[PLOTLY] as PlotlyFigure | undefined;
  if (figure === undefined) return false;
  return figure.data.every((trace) => countTracePoints(trace) === 0);
}

/** What is wrong with the outputs of a notebook by themselves: errors, figures without a point, values that are missing. */
export function findOutputFaults(notebook: Notebook): string[] {
  return listCodeCells(notebook).flatMap(({ number, code, outputs }) => {
    const errors = outputs
      .filter(({ output_type }) => output_type === 'error')
      .map(({ ename, evalue }) => `cell ${number} failed with ${ename}: ${evalue}`);
    const figures = outputs.filter(isEmptyFigure).map(() => `cell ${number} has a figure without a point`);
    const missing =
      outputs.length === 0 && endsWithExpression(code) ? [`cell ${number} has no output of its value`] : [];
    return [...errors, ...figures, ...missing];
  });
}

/** Cells of which an execution has another kind of output than the committed notebook. */
export function compareOutputs(committed: Notebook, executed: Notebook): string[] {
  const [before, after] = [listCodeCells(committed), listCodeCells(executed)];
  return before.flatMap(({ number, outputs }, at) => {
    const [old, now] = [describeKinds(outputs), describeKinds(after[at]?.outputs ?? [])];
    return old === now ? [] : [`cell ${number} had ${old}, and has now ${now}`];
  });
}

/** What is wrong with the cells of a notebook before any is executed. */
export function findCellFaults(notebook: Notebook): string[] {
  return listCodeCells(notebook).flatMap(({ number, code }) => {
    const lines = countLogicLines(code);
    return lines > CELL_LINES
      ? [`cell ${number} has ${lines} lines of logic; split it, ${CELL_LINES} are allowed`]
      : [];
  });
}

/** Cells without output whose committed form has some: the kernel may have lost it. */
export function findLostOutputs(reference: Notebook, executed: Notebook): number[] {
  const after = listCodeCells(executed);
  return listCodeCells(reference)
    .filter(({ code, outputs }, at) => {
      const expected = outputs.length > 0 || endsWithExpression(code);
      return expected && after[at]?.outputs.length === 0;
    })
    .map(({ number }) => number);
}
