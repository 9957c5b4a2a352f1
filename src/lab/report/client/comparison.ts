import { makeTablesSortable } from './tables.ts';

// the script of a page that has only tables
makeTablesSortable();
