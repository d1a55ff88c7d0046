import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';
import { focusBelow, useTakenFocus } from './focus.ts';
import { Icon, type IconName } from './icons.tsx';
import './menu.css';

interface Item {
  readonly label: string;
  /** Shown next to the label. */
  readonly note?: ReactNode;
  readonly icon?: IconName;
  readonly onSelect: () => void;
  readonly isDisabled?: boolean;
  /** A destructive action, shown in its color. */
  readonly isDangerous?: boolean;
}

export type MenuEntry =
  | (Item & { readonly kind?: 'item' })
  /** One of several, or a toggle. Selected ones have a mark. */
  | (Item & { readonly kind: 'radio' | 'check'; readonly isChosen: boolean; readonly keepsOpen?: boolean })
  | { readonly kind: 'line' }
  | { readonly kind: 'label'; readonly label: string };

export interface MenuProps {
  readonly trigger: ReactElement<Record<string, unknown>>;
  readonly entries: readonly MenuEntry[];
}

/** The loaded part of `Menu`. */
const MenuLoaded = ({ trigger, entries, startsOpen }: MenuProps & { readonly startsOpen: boolean }) => (
  <Base.Root defaultOpen={startsOpen}>
    <Base.Trigger ref={useTakenFocus(startsOpen)} render={trigger} />
    <Base.Portal>
      <Base.Positioner sideOffset={4} align="end" className="menu-place">
        <Base.Popup className="menu" finalFocus={focusBelow}>
          {entries.map((entry, index) => (
            <Entry key={'label' in entry ? entry.label : index} entry={entry} />
          ))}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
);

export default MenuLoaded;

function Entry({ entry }: { readonly entry: MenuEntry }) {
  if (entry.kind === 'line') return <Base.Separator className="menu-line" />;
  if (entry.kind === 'label') return <p className="menu-label cut">{entry.label}</p>;
  const { label, note, icon, onSelect, isDisabled = false, isDangerous = false } = entry;
  const className = `menu-item ${isDangerous ? 'tone-bad' : ''}`;
  const content = (
    <>
      {icon && <Icon name={icon} size={14} />}
      <span className="cut">{label}</span>
      {note !== undefined && <span className="muted small">{note}</span>}
    </>
  );
  if (entry.kind !== 'radio' && entry.kind !== 'check')
    return (
      <Base.Item className={className} disabled={isDisabled} onClick={onSelect}>
        {content}
      </Base.Item>
    );
  return (
    <Base.CheckboxItem
      className={className}
      disabled={isDisabled}
      checked={entry.isChosen}
      onCheckedChange={onSelect}
      closeOnClick={!(entry.keepsOpen ?? entry.kind === 'check')}
    >
      <span className="menu-mark">{entry.isChosen && <Icon name="check" size={14} />}</span>
      {content}
    </Base.CheckboxItem>
  );
}
