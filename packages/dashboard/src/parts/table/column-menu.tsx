import { Button } from '../button.tsx';
import { Menu } from '../menu.tsx';

interface ColumnMenuProps {
  readonly columns: readonly { readonly id: string; readonly header: string; readonly isFixed?: boolean }[];
  readonly visible: readonly { readonly id: string }[];
  readonly onToggle: (id: string) => void;
  readonly onReset: () => void;
}

/** The visible columns of a table, stored in the browser and in the address. */
export const ColumnMenu = ({ columns, visible, onToggle, onReset }: ColumnMenuProps) => (
  <Menu
    trigger={<Button icon="columns">Columns</Button>}
    entries={[
      ...columns
        .filter(({ isFixed = false }) => !isFixed)
        .map(({ id, header }) => ({
          kind: 'check' as const,
          label: header,
          isChosen: visible.some((column) => column.id === id),
          onSelect: () => onToggle(id),
        })),
      { kind: 'line' },
      { label: 'Reset', onSelect: onReset },
    ]}
  />
);
