import { useState } from 'react';
import { Dialog } from '../parts/dialog/dialog.tsx';
import { currentShortcuts, isMac, useShortcuts, type Shortcut } from '../parts/keyboard.ts';

const keyNames: Readonly<Record<string, string>> = { Mod: isMac ? '⌘' : 'Ctrl', Escape: 'Esc' };

/** `?` shows every key that works on the page. */
export function ShortcutHelp() {
  const [shown, setShown] = useState<readonly Shortcut[]>();
  useShortcuts([{ keys: '?', does: 'Show the keys', run: () => setShown(currentShortcuts()) }]);
  const unique = [...new Map((shown ?? []).map((one) => [one.keys, one])).values()];
  return (
    <Dialog isOpen={shown !== undefined} onClose={() => setShown(undefined)} title="Keys of this page">
      <dl className="shortcuts">
        {unique.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split(/[ +]/).map((key) => (
                <kbd key={key}>{keyNames[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
