/**
 * The only place where the runner meets `compat`: an executor adds its runtime when a version has tasks of the published SDK, and loads
 * nothing of it otherwise.
 */
import type { PublishedSettings } from '@millrace/contract/runner';
import type { Imported, Published } from '@millrace/compat/runtime';

export type { Imported, Published };

/** Prepares this process for tasks of the published SDK. */
export async function loadPublished(settings: PublishedSettings | undefined): Promise<Published | undefined> {
  if (!settings) return undefined;
  const { installPublished } = await import('@millrace/compat/runtime');
  return installPublished(settings);
}
