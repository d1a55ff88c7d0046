import { Icon } from '../icons.tsx';
import type { Column, Sorting } from './column.ts';

interface TableHeadProps<R> {
  readonly column: Column<R>;
  readonly sorting: Sorting | undefined;
}

/** The header of a column: a button, if the server can sort by it. */
export function TableHead<R>({ column: { header, align, sort }, sorting }: TableHeadProps<R>) {
  const className = `cell ${align === 'end' ? 'is-end' : ''}`;
  if (sort === undefined || sorting === undefined)
    return (
      <div role="columnheader" className={className}>
        <span className="cut">{header}</span>
      </div>
    );
  const isSorted = sorting.by === sort.by;
  return (
    <div role="columnheader" className={className} aria-sort={isSorted ? sort.direction : 'none'}>
      <button type="button" className="head-button" onClick={() => sorting.onSort(sort.by)}>
        <span className="cut">{header}</span>
        {isSorted && <Icon name={sort.direction === 'ascending' ? 'up' : 'down'} size={12} />}
      </button>
    </div>
  );
}
