import { Menu } from '@base-ui/react/menu';
import { Button } from '../button.tsx';
import { Icon } from '../icons.tsx';
import type { Column } from './column.ts';
import '../menu.css';

interface ColumnMenuProps {
  readonly columns: readonly Column<never>[];
  readonly shown: readonly { readonly id: string }[];
  readonly onToggle: (id: string) => void;
  readonly onReset: () => void;
}

/** Which columns a table has. It is remembered, and in the address. */
export const ColumnMenu = ({ columns, shown, onToggle, onReset }: ColumnMenuProps) => (
  <Menu.Root>
    <Menu.Trigger render={<Button icon="columns">Columns</Button>} />
    <Menu.Portal>
      <Menu.Positioner sideOffset={4} align="end" className="menu-place">
        <Menu.Popup className="menu">
          {columns
            .filter(({ isFixed }) => !isFixed)
            .map(({ id, header }) => (
              <Menu.CheckboxItem
                key={id}
                className="menu-item"
                checked={shown.some((one) => one.id === id)}
                onCheckedChange={() => onToggle(id)}
                closeOnClick={false}
              >
                <span className="menu-mark">
                  <Menu.CheckboxItemIndicator>
                    <Icon name="check" size={14} />
                  </Menu.CheckboxItemIndicator>
                </span>
                {header}
              </Menu.CheckboxItem>
            ))}
          <Menu.Separator className="menu-line" />
          <Menu.Item className="menu-item" onClick={onReset}>
            <span className="menu-mark" />
            As they were
          </Menu.Item>
        </Menu.Popup>
      </Menu.Positioner>
    </Menu.Portal>
  </Menu.Root>
);
