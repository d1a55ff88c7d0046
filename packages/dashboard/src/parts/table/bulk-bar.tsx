import { useRef, type ReactNode } from 'react';
import { Button, IconButton } from '../button.tsx';
import { useShortcuts } from '../keyboard.ts';
import { countText } from '../count-text.ts';
import type { Selection } from './selection.ts';

interface BulkBarProps {
  readonly selection: Selection;
  /** "run", "error". */
  readonly noun: string;
  /** The number of filter matches in display form: `412` or `10,000+`. If set, a reader can select all of them. */
  readonly total?: string | undefined;
  /** Buttons with the action and count: "Cancel 412 runs". */
  readonly children: ReactNode;
}

/** Shown when rows are selected: their number, and the available actions. */
export function BulkBar({ selection, noun, total, children }: BulkBarProps) {
  const count = selection.ids.size;
  const isOpen = count > 0 || selection.isAll;
  const bar = useRef<HTMLDivElement>(null);
  useShortcuts(
    isOpen
      ? [
          { keys: 'Escape', label: 'Clear the selection', run: selection.clear },
          {
            keys: 'b',
            label: 'Go to the actions for the selected rows',
            run: () => bar.current?.querySelector<HTMLElement>('button')?.focus(),
          },
        ]
      : [],
  );
  if (!isOpen) return null;
  return (
    <div ref={bar} className="bulk-bar" role="region" aria-label="Selection">
      <span className="number" role="status">
        {chosenText(selection, noun, total)}
      </span>
      {total !== undefined && !selection.isAll && (
        <Button variant="plain" onClick={selection.chooseAll}>
          Select all {total} that match
        </Button>
      )}
      {children}
      <IconButton icon="close" label="Clear the selection" onClick={selection.clear} />
    </div>
  );
}

export const chosenText = (
  { ids, isAll }: Pick<Selection, 'ids' | 'isAll'>,
  noun: string,
  total: string | undefined,
): string =>
  isAll ? `All ${countText(total ?? '', noun)} that match` : `${countText(ids.size, noun)} selected`;
