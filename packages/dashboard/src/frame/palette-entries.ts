import { isUnreadable, quotedValue, runFilterQuery } from '@millrace/contract/filter';
import { useAsk } from '../api/ask.ts';
import { useDebounced } from '../parts/debounced.ts';
import type { IconName } from '../parts/icons.tsx';
import { visibleControls } from '../parts/json/visible-controls.ts';
import { currentShortcuts } from '../parts/keyboard.ts';
import { addressOf } from '../parts/queue-name.ts';
import { closePalette } from './palette-state.ts';

/** A result of the palette. */
export interface Entry {
  readonly key: string;
  readonly label: string;
  readonly hint?: string;
  readonly icon: IconName;
  readonly run: () => void;
  /** Found by the server, or derived from the text: its label need not contain the text. */
  readonly isFound?: boolean;
}

type Go = (path: string, search?: Readonly<Record<string, string>>) => void;

/** The server searches from this length on. */
const minLength = 2;
const maxOfKind = 4;

/** Queues, schedules, errors and runs that match the text. */
export function useFoundEntries(text: string, go: Go): readonly Entry[] {
  const search = useDebounced(text.trim());
  const enabled = search.length >= minLength;
  const queues = useAsk(
    'listQueues',
    { query: { 'filter[search]': search, perPage: maxOfKind } },
    { enabled, keepPrevious: false },
  );
  const errors = useAsk(
    'listErrors',
    { query: { 'filter[search]': search, 'page[size]': maxOfKind } },
    { enabled, keepPrevious: false },
  );
  const schedules = useAsk('listSchedules', { query: { perPage: 100 } }, { enabled });
  const paths = useAsk('listRunPaths', {}, { enabled });
  if (!enabled) return [];
  const query = search.toLowerCase();
  const filter = search.includes(':') ? runFilterQuery(search) : undefined;
  return [
    ...(queues.data?.data ?? []).map((queue) => ({
      key: `queue ${queue.id}`,
      label: visibleControls(queue.name),
      hint: queue.type === 'task' ? 'queue of the task' : 'queue',
      icon: 'queues' as const,
      isFound: true,
      run: () => go(addressOf(queue)),
    })),
    ...(schedules.data?.data ?? [])
      .filter(({ task, externalId = '', deduplicationKey = '', generator }) =>
        `${task}\n${externalId}\n${deduplicationKey}\n${generator.expression}\n${generator.description}`
          .toLowerCase()
          .includes(query),
      )
      .slice(0, maxOfKind)
      .map(({ id, task, generator }) => ({
        key: `schedule ${id}`,
        label: `${visibleControls(task)}, ${generator.description}`,
        hint: 'schedule',
        icon: 'schedules' as const,
        isFound: true,
        run: () => go(`/schedules/${id}`),
      })),
    ...(errors.data?.data ?? []).map(({ id, errorType, errorMessage, taskIdentifier }) => ({
      key: `error ${id}`,
      label: visibleControls(`${errorType}: ${errorMessage}`),
      hint: visibleControls(`error of ${taskIdentifier}`),
      icon: 'errors' as const,
      isFound: true,
      run: () => go(`/errors/${id}`),
    })),
    ...(filter !== undefined && !isUnreadable(filter)
      ? [
          {
            key: 'filter',
            label: `Runs that match ${search}`,
            icon: 'runs' as const,
            isFound: true,
            run: () => go('/runs', { q: search }),
          },
        ]
      : (paths.data?.data ?? []).slice(0, maxOfKind).map(({ path }) => ({
          key: `path ${path}`,
          label: `Runs with ${path} "${search}"`,
          icon: 'runs' as const,
          isFound: true,
          run: () => go('/runs', { q: `${path}:${quotedValue(search)}` }),
        }))),
    {
      key: 'errors',
      label: `Runs that failed with "${search}"`,
      icon: 'search' as const,
      isFound: true,
      run: () => go('/runs', { q: `error:${quotedValue(search)}` }),
    },
  ];
}

/** Keys that move within a page: as commands they would have no effect. */
const moves = new Set(['j', 'k', 'o', 'x', 'f', '/', 'Mod+k']);

/** The commands of the page below the palette, with their keys. */
export const pageCommands = (): readonly Entry[] =>
  currentShortcuts()
    .filter(({ group }) => group === 'On this page')
    .flatMap(({ shortcuts }) => shortcuts)
    .filter(({ keys }) => !moves.has(keys))
    .map(({ keys, label, run }) => ({
      key: `command ${keys}`,
      label,
      hint: keys,
      icon: 'right' as const,
      run: () => {
        closePalette();
        // After the palette has returned the focus to the page.
        setTimeout(() => run(new KeyboardEvent('keydown')));
      },
    }));
