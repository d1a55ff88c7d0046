import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import './tabs.css';

export interface Tab {
  readonly id: string;
  readonly label: string;
  /** A number next to the label. */
  readonly count?: number | string | undefined;
  readonly content: ReactNode;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected: string;
  /** Store it in the address, so that Back and links work. */
  readonly onSelect: (id: string) => void;
  /** At the end of the row of tabs. */
  readonly actions?: ReactNode;
}

export const Tabs = ({ label, tabs, selected, onSelect, actions }: TabsProps) => {
  const value = tabs.some(({ id }) => id === selected) ? selected : tabs[0]?.id;
  return (
    <Base.Root value={value} onValueChange={(next) => onSelect(String(next))} className="tabs">
      <div className="tabs-line">
        <Base.List className="tabs-list" aria-label={label}>
          {tabs.map(({ id, label: text, count }) => (
            <Base.Tab key={id} value={id} className="tab">
              {text}
              {count !== undefined && <span className="tab-count number">{count}</span>}
            </Base.Tab>
          ))}
        </Base.List>
        {actions && <div className="row">{actions}</div>}
      </div>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id} className="tab-panel" tabIndex={-1}>
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
};
