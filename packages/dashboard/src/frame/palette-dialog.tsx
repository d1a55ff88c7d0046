import { Dialog } from '@base-ui/react/dialog';
import { useState } from 'react';
import { useAsk } from '../api/ask.ts';
import { setPaused, useLive } from '../api/live.ts';
import { focusBelow } from '../parts/focus.ts';
import { Icon } from '../parts/icons.tsx';
import { useGoTo } from '../parts/page-link.tsx';
import { setTheme, useTheme } from '../parts/theme.ts';
import { findId } from './find-id.ts';
import { frameLinks } from './links.ts';
import { pageCommands, useFoundEntries, type Entry } from './palette-entries.ts';
import { closePalette } from './palette-state.ts';
import { takeTyped } from './typed-early.ts';
import { visibleControls } from '../parts/json/visible-controls.ts';
import '../parts/dialog/dialog.css';
import '../parts/menu.css';

/** The loaded part of `Palette`. */
const PaletteDialog = ({ isOpen }: { readonly isOpen: boolean }) => (
  <Dialog.Root open={isOpen} onOpenChange={(open) => !open && closePalette()}>
    <Dialog.Portal>
      <Dialog.Backdrop className="backdrop" />
      <Dialog.Popup className="dialog palette" aria-label="Search" finalFocus={focusBelow}>
        <PaletteList />
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
);

export default PaletteDialog;

const maxShown = 20;

function PaletteList() {
  const goTo = useGoTo();
  const { isPaused } = useLive();
  const theme = useTheme();
  const tasks = useAsk('listTasks', {});
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);

  const go = (path: string, search?: Readonly<Record<string, string>>): void => {
    closePalette();
    goTo(path, search);
  };
  const found = useFoundEntries(text, go);
  const [commands] = useState(pageCommands);
  const id = findId(text);
  const query = text.trim().toLowerCase();
  const entries: readonly Entry[] = [
    ...(id
      ? [
          {
            key: 'id',
            label: `Open the ${id.what}`,
            hint: id.id,
            icon: 'right',
            run: () => go(id.path),
          } as const,
        ]
      : []),
    ...frameLinks.map(({ to, label, icon, key }) => ({
      key: `page${to}`,
      label,
      hint: key,
      icon,
      run: () => go(to),
    })),
    ...(tasks.data?.data ?? []).map(({ id: task }) => ({
      key: `task ${task}`,
      label: visibleControls(task),
      hint: 'task',
      icon: 'tasks' as const,
      run: () => go(`/tasks/${encodeURIComponent(task)}`),
    })),
    {
      key: 'live',
      label: isPaused ? 'Resume live updates' : 'Pause live updates',
      icon: isPaused ? 'play' : 'pause',
      run: () => {
        setPaused(!isPaused);
        closePalette();
      },
    },
    {
      key: 'theme',
      label: theme === 'dark' ? 'Light theme' : 'Dark theme',
      icon: theme === 'dark' ? 'sun' : 'moon',
      run: () => {
        setTheme(theme === 'dark' ? 'light' : 'dark');
        closePalette();
      },
    },
    ...commands,
    {
      key: 'new schedule',
      label: 'New schedule',
      icon: 'plus',
      run: () => go('/schedules', { form: 'new' }),
    },
    ...(id ? [] : found),
  ];
  const matches = entries
    .filter(
      ({ key, label, isFound = false }) => key === 'id' || isFound || label.toLowerCase().includes(query),
    )
    .slice(0, query === '' ? 20 : maxShown);
  const current = Math.min(active, matches.length - 1);

  return (
    <>
      <div className="palette-field">
        <Icon name="search" />
        <input
          className="palette-input"
          role="combobox"
          aria-label="Search pages, tasks, queues, schedules, errors and commands, or paste an id"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={`palette-${current}`}
          placeholder="Page, task, error, command, or any id"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          onFocus={() => {
            const early = takeTyped();
            if (early !== '') setText((before) => before + early);
          }}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setActive(0);
          }}
          onKeyDown={(event) => {
            const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
            if (by !== 0) {
              event.preventDefault();
              setActive((current + by + matches.length) % Math.max(1, matches.length));
            } else if (event.key === 'Enter') {
              event.preventDefault();
              matches[current]?.run();
            }
          }}
        />
      </div>
      <ul id="palette-list" role="listbox" aria-label="Results" tabIndex={-1} className="palette-list">
        {matches.map(({ key, label, hint, icon, run }, index) => (
          <li
            key={key}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === current}
            className="menu-item"
            data-highlighted={index === current ? '' : undefined}
            onPointerMove={() => setActive(index)}
            onClick={run}
          >
            <Icon name={icon} size={14} />
            <span className="cut">{label}</span>
            {hint && <span className="palette-hint muted small cut">{hint}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
