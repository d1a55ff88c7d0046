import type { ErrorRule as WireRule } from '@millrace/contract';
import type { ApiClient } from '../../client/api-client.ts';
import { ConfigurationError } from '../../client/settings.ts';

/**
 * A rule of a project: errors that match all its patterns go to one group of their task, that of `groupKey`. In a pattern `*` stands
 * for anything, and `\*` and `\\` for the characters themselves; it is about the whole text, and upper and lower case differ.
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

/** Whose rules. */
export interface OfProject {
  /** `proj_…`; needed with a personal access token. Default: the project of the secret key. */
  projectRef?: string;
}

const own = new WeakMap<ApiClient, Promise<string>>();

/** The project that a call is about; that of a key is asked for once. */
export function projectOf(client: ApiClient, { projectRef }: OfProject): Promise<string> | string {
  if (projectRef !== undefined) return projectRef;
  let asked = own.get(client);
  if (!asked) {
    asked = client.call('whoami').then(({ project }) => {
      if (project) return project.ref;
      throw new ConfigurationError('A personal access token is for many projects: give projectRef.');
    });
    asked.catch(() => own.delete(client));
    own.set(client, asked);
  }
  return asked;
}
