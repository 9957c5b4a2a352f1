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

/** Rows by the numbers in `data-value` of a column; equal ones stay in their order. */
export function sortRows(table: HTMLTableElement, column: number, direction: string): void {
  const body = table.tBodies[0] as HTMLTableSectionElement;
  const sign = direction === 'descending' ? -1 : 1;
  const valueIn = (row: HTMLTableRowElement) => Number(row.cells[column]?.dataset.value);
  body.append(...[...body.rows].sort((a, b) => sign * (valueIn(a) - valueIn(b))));
}
