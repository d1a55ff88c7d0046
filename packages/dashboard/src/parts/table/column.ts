import type { ReactNode } from 'react';

export interface Column<R> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: R) => ReactNode;
  /** A track of a CSS grid. Default `minmax(96px, 1fr)`. */
  readonly width?: string;
  readonly align?: 'end';
  /** Not among the columns that a reader can hide. */
  readonly isFixed?: boolean;
  /** Not shown until a reader chooses it. */
  readonly startsHidden?: boolean;
  /** Also shown where the page is narrow. Without any such column: the first three. */
  readonly isEssential?: boolean;
}

/**
 * The columns that are shown, in their order. `chosen` is what a reader chose, ids with commas between them; without it, those that do not start
 * hidden.
 */
export function shownColumns<R>(
  columns: readonly Column<R>[],
  chosen: string | undefined,
): readonly Column<R>[] {
  if (chosen === undefined || chosen === '') return columns.filter(({ startsHidden }) => !startsHidden);
  const ids = new Set(chosen.split(','));
  return columns.filter(({ id, isFixed }) => isFixed === true || ids.has(id));
}

/** What is shown where the page is narrow. */
export function essentialColumns<R>(columns: readonly Column<R>[]): readonly Column<R>[] {
  const essential = columns.filter(({ isEssential }) => isEssential);
  return essential.length > 0 ? essential : columns.slice(0, 3);
}
