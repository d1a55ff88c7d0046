import type { PublishedSettings } from '@millrace/contract/runner';
import type { Published } from '../published/runtime/index.ts';

export type { Published };

/** Prepares this process for tasks of the published SDK. Without settings for it, nothing is loaded. */
export async function loadPublished(settings: PublishedSettings | undefined): Promise<Published | undefined> {
  if (!settings) return undefined;
  const { installPublished } = await import('../published/runtime/index.ts');
  return installPublished(settings);
}

const brand = Symbol.for('trigger.dev/task');

/** Under which name a module exports a task of the published SDK. */
export function exportNameOf(namespace: object, id: string): string | undefined {
  for (const [name, value] of Object.entries(namespace)) {
    if (typeof value !== 'object' || value === null || !(brand in value)) continue;
    if ((value as { id?: unknown }).id === id) return name;
  }
  return undefined;
}
