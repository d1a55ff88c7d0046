import { useState } from 'react';
import { Dialog } from '../parts/dialog/dialog.tsx';
import { currentShortcuts, isMac, useShortcuts } from '../parts/keyboard.ts';

const keyNames: Readonly<Record<string, string>> = {
  Mod: isMac ? '⌘' : 'Ctrl',
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
};

/** `Mod+k` and `g r` are two keys, `+` is one. */
const partsOf = (keys: string): readonly string[] => (keys === '+' ? [keys] : keys.split(/[ +]/));

/** `?` shows every shortcut that works on the page, as registered by its parts. */
export function ShortcutHelp() {
  const [groups, setGroups] = useState<ReturnType<typeof currentShortcuts>>();
  useShortcuts([{ keys: '?', label: 'Show keyboard shortcuts', run: () => setGroups(currentShortcuts()) }], {
    isEverywhere: true,
  });
  return (
    <Dialog
      isOpen={groups !== undefined}
      onClose={() => setGroups(undefined)}
      title="Keyboard shortcuts"
      isWide
    >
      {groups?.map(({ group, shortcuts }) => (
        <section key={group} className="stack shortcut-group" aria-label={group}>
          <h3>{group}</h3>
          <dl className="shortcuts">
            {shortcuts.map(({ keys, label }) => (
              <div key={keys}>
                <dt>
                  {partsOf(keys).map((key) => (
                    <kbd key={key}>{keyNames[key] ?? key}</kbd>
                  ))}
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
