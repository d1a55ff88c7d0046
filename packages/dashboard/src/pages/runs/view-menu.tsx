import { useState } from 'react';
import { useEnvironment } from '../../api/environment.ts';
import { Button } from '../../parts/button.tsx';
import { lazyDialog } from '../../parts/lazy-popup.tsx';
import { Menu, type MenuEntry } from '../../parts/menu.tsx';
import type { SaveViewProps } from './save-view.tsx';
import { usualViews, useViews, type View } from './views.ts';

const SaveView = lazyDialog<SaveViewProps>(() => import('./save-view.tsx'));

interface ViewMenuProps {
  readonly filter: string;
  readonly onChoose: (filter: string) => void;
}

/** Frequently used filters: built-in ones, and the reader's own. */
export function ViewMenu({ filter, onChoose }: ViewMenuProps) {
  const { project } = useEnvironment();
  const { views, save, remove } = useViews(project);
  const [isSaving, setSaving] = useState(false);
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
    { label: 'Save this filter', icon: 'plus', isDisabled: filter === '', onSelect: () => setSaving(true) },
    ...(isOwn
      ? [{ label: `Remove “${current.name}”`, icon: 'trash', onSelect: () => remove(current.name) } as const]
      : []),
  ];
  return (
    <>
      <Menu trigger={<Button icon="star">{current?.name ?? 'Views'}</Button>} entries={entries} />
      <SaveView
        isOpen={isSaving}
        filter={filter}
        onSave={(name) => save({ name, filter })}
        onClose={() => setSaving(false)}
      />
    </>
  );
}
