import type { ReactNode } from 'react';

export interface Column<R> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: R) => ReactNode;
  /** A track of a CSS grid. Default `minmax(96px, 1fr)`. */
  readonly width?: string;
  readonly align?: 'end';
  /** The order of the server in which this column leads; the page passes the current one to the table. */
  readonly sort?: { readonly by: string; readonly direction: 'ascending' | 'descending' };
  /** Whether readers cannot hide the column. */
  readonly isFixed?: boolean;
  /** Hidden until a reader selects it. */
  readonly startsHidden?: boolean;
  /** Also shown on narrow pages. Without any such column: the first three. */
  readonly isEssential?: boolean;
}

/** The current order of a table, and its change by the header of a column. */
export interface Sorting {
  readonly by: string;
  readonly onSort: (by: string) => void;
}

/** The visible columns, in order. `chosen` is the reader's selection, as comma-separated ids; without it, those that do not start hidden. */
export function shownColumns<R>(
  columns: readonly Column<R>[],
  chosen: string | undefined,
): readonly Column<R>[] {
  if (chosen === undefined || chosen === '') return columns.filter(({ startsHidden }) => !startsHidden);
  const ids = new Set(chosen.split(','));
  return columns.filter(({ id, isFixed }) => isFixed === true || ids.has(id));
}

/** The columns on narrow pages. */
export function essentialColumns<R>(columns: readonly Column<R>[]): readonly Column<R>[] {
  const essential = columns.filter(({ isEssential }) => isEssential);
  return essential.length > 0 ? essential : columns.slice(0, 3);
}
