import { createNode } from './dom.ts';

/** Every table of the page that is meant to sort. */
export function makeTablesSortable(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>('table.sortable')) makeTableSortable(table);
  for (const cell of document.querySelectorAll<HTMLTableCellElement>('.plain td:not(.word)')) keepWhole(cell);
}

/** Keeps an interval in one line, and p with its value, if the figures of a cell take several lines. */
function keepWhole(cell: HTMLTableCellElement): void {
  const parts = (cell.textContent ?? '').split(/(\[[^\]]*\]|p [<\d.]\S*)/);
  if (parts.length === 1) return;
  const nodes = parts.map((part, at) => (at % 2 === 0 ? part : createNode('span', { class: 'unbroken' }, part)));
  cell.replaceChildren(...nodes);
}

/** Makes the headings of a table sort its rows; a heading sorts descending first if marked so, reverses when used again, and then restores the first order. */
function makeTableSortable(table: HTMLTableElement): void {
  const body = table.tBodies[0] as HTMLTableSectionElement;
  const order = [...body.rows];
  const headings = [...table.querySelectorAll<HTMLTableCellElement>('thead th')];
  for (const [column, heading] of headings.entries()) {
    heading.querySelector('button')?.addEventListener('click', () => {
      const first = heading.dataset.first === 'descending' ? 'descending' : 'ascending';
      const turned = first === 'descending' ? 'ascending' : 'descending';
      const used = heading.getAttribute('aria-sort');
      for (const other of headings) other.removeAttribute('aria-sort');
      body.append(...order);
      if (used === turned) return;
      const direction = used === first ? turned : first;
      heading.setAttribute('aria-sort', direction);
      sortRows(table, column, direction);
    });
  }
}

/** Rows by a column; those that are about another row (`data-of`) stay below it, those without a figure stand last, equal ones stay in their order. */
function sortRows(table: HTMLTableElement, column: number, direction: string): void {
  const body = table.tBodies[0] as HTMLTableSectionElement;
  const rows = [...body.rows];
  const names = new Set(rows.map(({ dataset }) => dataset.arm));
  const heads = rows.filter(({ dataset }) => dataset.of === undefined || !names.has(dataset.of));
  const listFoldedRows = (head: HTMLTableRowElement) =>
    rows.filter((row) => row !== head && row.dataset.of !== undefined && row.dataset.of === head.dataset.arm);
  const sign = direction === 'descending' ? -1 : 1;
  heads.sort((a, b) => compareCells(a.cells[column], b.cells[column], sign));
  body.append(...heads.flatMap((head) => [head, ...listFoldedRows(head)]));
}

/** By `data-value`; if neither cell has one, by `data-name` or the text, numbers within it by their size. */
function compareCells(a: HTMLTableCellElement | undefined, b: HTMLTableCellElement | undefined, sign: number): number {
  const [first, second] = [a?.dataset.value, b?.dataset.value];
  if (first !== undefined && second !== undefined) return sign * (Number(first) - Number(second));
  if (first === undefined && second === undefined) {
    const [name, other] = [a, b].map((cell) => cell?.dataset.name ?? cell?.textContent ?? '') as [string, string];
    return sign * name.localeCompare(other, 'en', { numeric: true });
  }
  return first === undefined ? 1 : -1;
}
