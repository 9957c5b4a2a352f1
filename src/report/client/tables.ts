/** Every table of the page that is meant to sort. */
export function allSortable(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>('table.sortable')) sortable(table);
}

/** Makes the headings of a table sort its rows; a heading sorts downwards first if it says so, and turns round when used again. */
export function sortable(table: HTMLTableElement): void {
  const headings = [...table.querySelectorAll<HTMLTableCellElement>('thead th')];
  for (const [column, heading] of headings.entries()) {
    heading.querySelector('button')?.addEventListener('click', () => {
      const first = heading.dataset.first === 'descending' ? 'descending' : 'ascending';
      const turned = first === 'descending' ? 'ascending' : 'descending';
      const direction = heading.getAttribute('aria-sort') === first ? turned : first;
      for (const other of headings) other.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', direction);
      sortRows(table, column, direction);
    });
  }
}

/** Rows by a column; those that are about another row (`data-of`) stay below it, those without a figure stand last, equal ones stay in their order. */
export function sortRows(table: HTMLTableElement, column: number, direction: string): void {
  const body = table.tBodies[0] as HTMLTableSectionElement;
  const rows = [...body.rows];
  const names = new Set(rows.map(({ dataset }) => dataset.arm));
  const heads = rows.filter(({ dataset }) => dataset.of === undefined || !names.has(dataset.of));
  const below = (head: HTMLTableRowElement) =>
    rows.filter((row) => row !== head && row.dataset.of !== undefined && row.dataset.of === head.dataset.arm);
  const sign = direction === 'descending' ? -1 : 1;
  heads.sort((a, b) => compareCells(a.cells[column], b.cells[column], sign));
  body.append(...heads.flatMap((head) => [head, ...below(head)]));
}

/** By `data-value`, or by the text where neither cell has one. */
export function compareCells(
  a: HTMLTableCellElement | undefined,
  b: HTMLTableCellElement | undefined,
  sign: number,
): number {
  const [first, second] = [a?.dataset.value, b?.dataset.value];
  if (first !== undefined && second !== undefined) return sign * (Number(first) - Number(second));
  if (first === undefined && second === undefined)
    return sign * (a?.textContent ?? '').localeCompare(b?.textContent ?? '');
  return first === undefined ? 1 : -1;
}
