import { useState } from 'react';

export interface View {
  readonly name: string;
  readonly filter: string;
}

/** The built-in filters. */
export const usualViews: readonly View[] = [
  { name: 'Failed in the last day', filter: 'status:failed,crashed,system-failure,timed-out since:1d' },
  { name: 'Running now', filter: 'status:running since:30d' },
  { name: 'Waiting to start', filter: 'status:queued,pending-version,delayed since:30d' },
  { name: 'Waiting for something', filter: 'status:waiting since:30d' },
];

const storedAs = (project: string): string => `millrace.views.${project}`;

function readViews(project: string): readonly View[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(storedAs(project)) ?? '[]');
    return Array.isArray(read) ? (read as View[]) : [];
  } catch {
    return [];
  }
}

/** Named filters, stored in this browser for each project. */
export function useViews(project: string): {
  readonly views: readonly View[];
  readonly save: (view: View) => void;
  readonly remove: (name: string) => void;
} {
  const [views, setViews] = useState(() => readViews(project));
  const store = (next: readonly View[]): void => {
    localStorage.setItem(storedAs(project), JSON.stringify(next));
    setViews(next);
  };
  const without = (name: string): readonly View[] => readViews(project).filter((view) => view.name !== name);
  return {
    views,
    save: (view) => store([...without(view.name), view]),
    remove: (name) => store(without(name)),
  };
}
