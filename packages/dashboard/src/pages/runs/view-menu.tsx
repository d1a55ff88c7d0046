import { Menu } from '@base-ui/react/menu';
import { useState } from 'react';
import { useEnvironment } from '../../api/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { TextField } from '../../parts/form/field.tsx';
import { Icon } from '../../parts/icons.tsx';
import { usualViews, useViews, type View } from './views.ts';
import '../../parts/menu.css';

interface ViewMenuProps {
  readonly filter: string;
  readonly onChoose: (filter: string) => void;
}

/** Filters that are looked at often: those that everybody has, and one's own. */
export function ViewMenu({ filter, onChoose }: ViewMenuProps) {
  const { project } = useEnvironment();
  const { views, save, remove } = useViews(project);
  const [name, setName] = useState<string>();
  const current = [...usualViews, ...views].find((view) => view.filter === filter);
  const isOwn = current !== undefined && views.includes(current);
  const item = (view: View) => (
    <Menu.RadioItem key={view.name} value={view.filter} className="menu-item" closeOnClick>
      <span className="menu-mark">
        <Menu.RadioItemIndicator>
          <Icon name="check" size={14} />
        </Menu.RadioItemIndicator>
      </span>
      <span className="cut">{view.name}</span>
    </Menu.RadioItem>
  );
  return (
    <>
      <Menu.Root>
        <Menu.Trigger render={<Button icon="star">{current?.name ?? 'Views'}</Button>} />
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} align="end" className="menu-place">
            <Menu.Popup className="menu">
              <Menu.RadioGroup value={filter} onValueChange={(next) => onChoose(String(next))}>
                {usualViews.map(item)}
                {views.length > 0 && <Menu.Separator className="menu-line" />}
                {views.map(item)}
              </Menu.RadioGroup>
              <Menu.Separator className="menu-line" />
              <Menu.Item className="menu-item" disabled={filter === ''} onClick={() => setName('')}>
                <span className="menu-mark">
                  <Icon name="plus" size={14} />
                </span>
                Save this filter
              </Menu.Item>
              {isOwn && (
                <Menu.Item className="menu-item" onClick={() => remove(current.name)}>
                  <span className="menu-mark">
                    <Icon name="trash" size={14} />
                  </span>
                  Remove “{current.name}”
                </Menu.Item>
              )}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <Dialog isOpen={name !== undefined} onClose={() => setName(undefined)} title="Save this filter">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            save({ name: (name ?? '').trim(), filter });
            setName(undefined);
          }}
        >
          <TextField
            label="Name"
            hint={
              <>
                Kept in this browser. It stands for <code>{filter}</code>
              </>
            }
            value={name ?? ''}
            maxLength={60}
            onChange={(event) => setName(event.target.value)}
          />
          <div className="form-actions">
            <Button type="submit" look="main" disabled={(name ?? '').trim() === ''}>
              Save
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
