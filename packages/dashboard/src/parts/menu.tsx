import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement } from 'react';
import { Icon, type IconName } from './icons.tsx';
import './menu.css';

export interface MenuEntry {
  readonly label: string;
  readonly icon?: IconName;
  readonly onSelect: () => void;
  readonly isDisabled?: boolean;
  /** It hurts: in the colour of that. */
  readonly isDangerous?: boolean;
}

/** What else can be done. `trigger` is a `Button` or an `IconButton`. */
export const Menu = ({
  trigger,
  entries,
}: {
  readonly trigger: ReactElement;
  readonly entries: readonly MenuEntry[];
}) => (
  <Base.Root>
    <Base.Trigger render={trigger} />
    <Base.Portal>
      <Base.Positioner sideOffset={4} align="end" className="menu-place">
        <Base.Popup className="menu">
          {entries.map(({ label, icon, onSelect, isDisabled = false, isDangerous = false }) => (
            <Base.Item
              key={label}
              className={`menu-item ${isDangerous ? 'tone-bad' : ''}`}
              disabled={isDisabled}
              onClick={onSelect}
            >
              {icon && <Icon name={icon} size={14} />}
              {label}
            </Base.Item>
          ))}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
);
