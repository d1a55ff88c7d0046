import { useState } from 'react';
import { useEnvironment } from '../../api/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { TextField } from '../../parts/form/field.tsx';
import { Menu, type MenuEntry } from '../../parts/menu.tsx';
import { usualViews, useViews, type View } from './views.ts';

interface ViewMenuProps {
  readonly filter: string;
  readonly onChoose: (filter: string) => void;
}

/** Frequently used filters: built-in ones, and the reader's own. */
export function ViewMenu({ filter, onChoose }: ViewMenuProps) {
  const { project } = useEnvironment();
  const { views, save, remove } = useViews(project);
  const [name, setName] = useState<string>();
  const current = [...usualViews, ...views].find((view) => view.filter === filter);
  const isOwn = current !== undefined && views.includes(current);
  const entryOf = (view: View) => ({
    kind: 'radio' as const,
    label: view.name,
    isChosen: view.filter === filter,
    onSelect: () => onChoose(view.filter),
  });
  const entries: readonly MenuEntry[] = [
    ...usualViews.map(entryOf),
    ...(views.length > 0 ? [{ kind: 'line' } as const] : []),
    ...views.map(entryOf),
    { kind: 'line' },
    { label: 'Save this filter', icon: 'plus', isDisabled: filter === '', onSelect: () => setName('') },
    ...(isOwn
      ? [{ label: `Remove “${current.name}”`, icon: 'trash', onSelect: () => remove(current.name) } as const]
      : []),
  ];
  return (
    <>
      <Menu trigger={<Button icon="star">{current?.name ?? 'Views'}</Button>} entries={entries} />
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
                Stored in this browser. Filter: <code>{filter}</code>
              </>
            }
            value={name ?? ''}
            maxLength={60}
            onChange={(event) => setName(event.target.value)}
          />
          <div className="form-actions">
            <Button type="submit" variant="main" disabled={(name ?? '').trim() === ''}>
              Save
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
