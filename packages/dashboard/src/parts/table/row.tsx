import { memo, useEffectEvent, useLayoutEffect, useRef, type MouseEvent } from 'react';
import { RowTabIndex } from '../button.tsx';
import type { Column } from './column.ts';

interface RowProps<R> {
  readonly rowKey: string;
  readonly index: number;
  readonly top: number;
  readonly row: R;
  readonly columns: readonly Column<R>[];
  readonly isActive: boolean;
  readonly isTabStop: boolean;
  /** It takes the focus, once for each such object. */
  readonly focusRequest: object | undefined;
  readonly isOpen: boolean;
  /** Undefined: rows of this table cannot be selected. */
  readonly isChosen: boolean | undefined;
  readonly opens: boolean;
  readonly onFocus: () => void;
  readonly onChoose: (isRange: boolean) => void;
  readonly onClick: (event: MouseEvent) => void;
}

const Cells = memo(function Cells({ row, columns }: { row: unknown; columns: readonly Column<never>[] }) {
  return columns.map(({ id, cell, align }) => (
    <div key={id} role="gridcell" className={`cell ${align === 'end' ? 'is-end' : ''}`}>
      {cell(row as never)}
    </div>
  ));
});

export function TableRow<R>({
  rowKey,
  index,
  top,
  row,
  columns,
  isActive,
  isTabStop,
  focusRequest,
  isOpen,
  isChosen,
  opens,
  onFocus,
  onChoose,
  onClick,
}: RowProps<R>) {
  const element = useRef<HTMLDivElement>(null);
  const tabIndex = isTabStop ? 0 : -1;
  const notifyFocus = useEffectEvent(onFocus);
  useLayoutEffect(() => {
    if (!focusRequest) return;
    element.current?.focus({ preventScroll: true });
    // It may already have the focus.
    notifyFocus();
  }, [focusRequest]);
  return (
    <RowTabIndex value={tabIndex}>
      <div
        ref={element}
        role="row"
        aria-rowindex={index + 2}
        aria-selected={isChosen}
        data-key={rowKey}
        tabIndex={tabIndex}
        className={[
          'table-row',
          opens && 'opens',
          isOpen && 'is-open',
          isActive && 'is-active',
          isChosen && 'is-chosen',
        ]
          .filter(Boolean)
          .join(' ')}
        style={{ transform: `translateY(${top}px)` }}
        onFocus={onFocus}
        onClick={onClick}
        onAuxClick={onClick}
      >
        {isChosen !== undefined && (
          <div role="gridcell" className="cell">
            <label className="row-check">
              <input
                type="checkbox"
                tabIndex={tabIndex}
                className="check-box"
                aria-label="Select the row"
                checked={isChosen}
                readOnly
                onClick={(event) => onChoose(event.shiftKey)}
              />
            </label>
          </div>
        )}
        <Cells row={row} columns={columns} />
      </div>
    </RowTabIndex>
  );
}
