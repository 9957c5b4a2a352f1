import { allSortable } from './tables.ts';

// the script of a page that has only tables
allSortable();
