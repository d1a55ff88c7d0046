import type { ErrorRule as WireRule } from '@millrace/contract';
import type { ApiClient } from '../../client/api-client.ts';
import { ConfigurationError } from '../../client/settings.ts';

/**
 * A rule of a project: errors that match all its patterns are grouped per task under `groupKey`. In a pattern `*` matches anything, and `\*`
 * and `\\` match the characters themselves. A pattern matches the whole text and is case-sensitive.
 */
export type ErrorRule = Omit<WireRule, 'createdAt' | 'updatedAt'> & {
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export const fromWire = (rule: WireRule): ErrorRule => ({
  ...rule,
  createdAt: new Date(rule.createdAt),
  updatedAt: new Date(rule.updatedAt),
});

/** The project of a call. */
export interface OfProject {
  /** `proj_…`; required with a personal access token. Default: the project of the secret key. */
  projectRef?: string;
}

const own = new WeakMap<ApiClient, Promise<string>>();

/** The project of a call. The project of a key is requested once. */
export function projectOf(client: ApiClient, { projectRef }: OfProject): Promise<string> | string {
  if (projectRef !== undefined) return projectRef;
  let pending = own.get(client);
  if (!pending) {
    pending = client.call('whoami').then(({ project }) => {
      if (project) return project.ref;
      throw new ConfigurationError('A personal access token covers many projects: pass projectRef.');
    });
    pending.catch(() => own.delete(client));
    own.set(client, pending);
  }
  return pending;
}
