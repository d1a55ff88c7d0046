import type { TestOptions } from './options.ts';

/** The typed input for a task, stored while the tab is open: a reload or a login loses nothing. */
export interface Draft {
  readonly text: string;
  readonly options: TestOptions;
}

const keyOf = (project: string, env: string, taskId: string): string =>
  `millrace.test ${project} ${env} ${taskId}`;

/** Maximum number of stored characters, because browsers have little storage. */
const maxCharacters = 500_000;

export function readDraft(...of: Parameters<typeof keyOf>): Draft | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(...of)) ?? '') as Draft;
  } catch {
    return undefined;
  }
}

export function keepDraft(draft: Draft, ...of: Parameters<typeof keyOf>): void {
  if (draft.text.length > maxCharacters) return;
  try {
    sessionStorage.setItem(keyOf(...of), JSON.stringify(draft));
  } catch {
    // The storage is full: the draft lives as long as the page.
  }
}
