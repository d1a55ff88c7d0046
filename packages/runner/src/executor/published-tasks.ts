/** The only place where the runner uses `compat`: an executor loads its runtime only when a version has tasks of the published SDK. */
import type { PublishedSettings } from '@millrace/contract/runner';
import type { Imported, Published } from '@millrace/compat/runtime';

export type { Imported, Published };

/** Prepares this process for tasks of the published SDK. */
export async function loadPublished(settings: PublishedSettings | undefined): Promise<Published | undefined> {
  if (!settings) return undefined;
  const { installPublished } = await import('@millrace/compat/runtime');
  return installPublished(settings);
}
