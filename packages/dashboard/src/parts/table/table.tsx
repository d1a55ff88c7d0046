import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState, type MouseEvent, type ReactNode } from 'react';
import { usePartKeys, useShortcuts } from '../keyboard.ts';
import { useIsNarrow } from '../media.ts';
import { Skeleton } from '../failure.tsx';
import { essentialColumns, type Column, type Sorting } from './column.ts';
import type { Selection } from './selection.ts';
import { TableHead } from './head.tsx';
import { TableRow } from './row.tsx';
import './table.css';

export interface TableProps<R> {
  /** For screen readers: "Runs". */
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string;
  /** The row's page: ⌘-click and the middle button open it in a new tab. */
  readonly hrefOf?: (row: R) => string;
  /** The action of a click and Enter. */
  readonly onOpen?: (row: R) => void;
  /** The row that is open in a side panel. */
  readonly openKey?: string | undefined;
  readonly selection?: Selection;
  readonly sorting?: Sorting;
  readonly isPending?: boolean;
  readonly hasMore?: boolean;
  readonly loadMore?: () => void;
  /** Shown instead of rows, if there are none. */
  readonly empty: ReactNode;
}

const overscan = 12;

/** Whether a click targets a control inside a row, or a menu opened from it, which is elsewhere in the document. */
const isOnControl = ({ target, currentTarget }: MouseEvent): boolean =>
  target instanceof Element &&
  (!currentTarget.contains(target) || target.closest('a, button, input, label, select') !== null);

/**
 * A table of which only the visible rows are in the document. `j`, `k` and arrows move through them, Tab moves through the controls of the
 * focused row, Enter opens, `x` selects. The page scrolls, not the table.
 */
export function Table<R>({
  label,
  columns: allColumns,
  rows,
  rowKey,
  hrefOf,
  onOpen,
  openKey,
  selection,
  sorting,
  isPending = false,
  hasMore = false,
  loadMore,
  empty,
}: TableProps<R>) {
  const isNarrow = useIsNarrow();
  const columns = isNarrow ? essentialColumns(allColumns) : allColumns;
  const body = useRef<HTMLDivElement>(null);
  /** The row that takes the focus as soon as it is rendered. */
  const [focusRequest, setFocusRequest] = useState<{ readonly key: string }>();
  const [offset, setOffset] = useState(0);
  const [active, setActive] = useState<string>();
  const rowHeight = useRowHeight();

  useLayoutEffect(() => {
    const top = body.current ? body.current.getBoundingClientRect().top + window.scrollY : 0;
    if (Math.abs(top - offset) > 1) setOffset(top);
  });

  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan,
    scrollMargin: offset,
    scrollPaddingStart: 96,
    scrollPaddingEnd: rowHeight,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  const visible = virtualizer.getVirtualItems();
  const lastVisible = visible.at(-1)?.index ?? 0;

  useEffect(() => {
    if (!hasMore || lastVisible < rows.length - 20) return;
    // Deferred: otherwise React would render all rows a second time, as loading, before they are painted.
    const timer = setTimeout(() => loadMore?.());
    return () => clearTimeout(timer);
  }, [hasMore, lastVisible, rows.length, loadMore]);

  const keys = rows.map(rowKey);
  const move = (by: number): void => {
    const at = active === undefined ? -1 : keys.indexOf(active);
    const next = at === -1 ? (by > 0 ? 0 : keys.length - 1) : Math.min(keys.length - 1, Math.max(0, at + by));
    const key = keys[next];
    if (key === undefined) return;
    setFocusRequest({ key });
    setActive(key);
    virtualizer.scrollToIndex(next, { align: 'auto' });
  };
  const activeRow = (): R | undefined => rows[active === undefined ? -1 : keys.indexOf(active)];
  const shortcuts = [
    { keys: 'j', label: 'Next row', run: () => move(1) },
    { keys: 'k', label: 'Previous row', run: () => move(-1) },
    ...(selection
      ? [
          {
            keys: 'x',
            label: 'Select or deselect the row',
            run: () => active !== undefined && selection.toggle(active),
          },
        ]
      : []),
    ...(hrefOf
      ? [
          {
            keys: 'o',
            label: 'Open the row in a new tab',
            run: () => {
              const row = activeRow();
              if (row !== undefined) window.open(hrefOf(row), '_blank', 'noopener');
            },
          },
        ]
      : []),
  ];
  useShortcuts(rows.length > 0 ? shortcuts : [], { near: body });
  const onKeyDown = usePartKeys('In a row of the table', [
    { keys: 'ArrowDown', label: 'Next row', run: () => move(1) },
    { keys: 'ArrowUp', label: 'Previous row', run: () => move(-1) },
    { keys: 'Home', label: 'First row', run: () => move(-rows.length) },
    { keys: 'End', label: 'Last row that is loaded', run: () => move(rows.length) },
    ...(onOpen
      ? [
          {
            keys: 'Enter',
            label: 'Open the row',
            run: () => {
              const row = activeRow();
              if (row !== undefined) onOpen(row);
            },
          },
        ]
      : []),
  ]);

  // The target of Tab is always rendered, even if it was scrolled away or has left the list.
  const activeIndex = active === undefined ? -1 : keys.indexOf(active);
  const tabStop = visible.some(({ index }) => index === activeIndex) ? activeIndex : visible[0]?.index;
  const tracks = [
    ...(selection ? ['32px'] : []),
    ...columns.map(({ width }) => width ?? 'minmax(96px, 1fr)'),
  ].join(' ');
  const areAllChosen =
    selection !== undefined && keys.length > 0 && keys.every((key) => selection.ids.has(key));

  if (rows.length === 0) return isPending ? <Skeleton lines={8} label={`Loading ${label}`} /> : empty;
  return (
    <div
      className="table"
      role="grid"
      aria-label={label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      aria-multiselectable={selection ? true : undefined}
      style={{ '--tracks': tracks } as never}
    >
      <div className="table-head" role="row" aria-rowindex={1}>
        {selection && (
          <div role="columnheader" className="cell">
            <input
              type="checkbox"
              className="check-box"
              aria-label="Select all loaded rows"
              checked={areAllChosen}
              ref={(input) => {
                if (input) input.indeterminate = !areAllChosen && selection.ids.size > 0;
              }}
              onChange={() => (areAllChosen ? selection.clear() : selection.chooseLoaded(keys))}
            />
          </div>
        )}
        {columns.map((column) => (
          <TableHead key={column.id} column={column} sorting={sorting} />
        ))}
      </div>
      <div
        ref={body}
        role="rowgroup"
        className="table-body"
        onKeyDown={onKeyDown}
        style={{ blockSize: virtualizer.getTotalSize() }}
      >
        {visible.map(({ index, start }) => {
          const row = rows[index] as R;
          const key = keys[index] as string;
          return (
            <TableRow
              key={key}
              rowKey={key}
              index={index}
              top={start - offset}
              row={row}
              columns={columns}
              isActive={key === active}
              isTabStop={index === tabStop}
              focusRequest={focusRequest?.key === key ? focusRequest : undefined}
              isOpen={key === openKey}
              isChosen={selection ? selection.isAll || selection.ids.has(key) : undefined}
              onFocus={() => {
                setActive(key);
                setFocusRequest(undefined);
              }}
              onChoose={(isRange) => (isRange ? selection?.toggleRange(key, keys) : selection?.toggle(key))}
              onClick={(event) => {
                if (isOnControl(event) || window.getSelection()?.isCollapsed === false) return;
                if (hrefOf && (event.metaKey || event.ctrlKey || event.button === 1))
                  window.open(hrefOf(row), '_blank', 'noopener');
                else if (event.button === 0) onOpen?.(row);
              }}
              opens={onOpen !== undefined}
            />
          );
        })}
      </div>
      {hasMore && (
        <p className="table-more muted" role="status">
          Loading more
        </p>
      )}
    </div>
  );
}

/** From the design tokens, where rows are taller on touch screens. */
function useRowHeight(): number {
  const [height, setHeight] = useState(32);
  useEffect(() => {
    const query = window.matchMedia('(pointer: coarse)');
    const read = (): void =>
      setHeight(
        Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')) || 32,
      );
    read();
    query.addEventListener('change', read);
    return () => query.removeEventListener('change', read);
  }, []);
  return height;
}
