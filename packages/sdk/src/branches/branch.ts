import type { ApiClient } from '../client/api-client.ts';
import { ConfigurationError } from '../client/settings.ts';

/** A live branch of the preview or dev environment. */
export interface Branch {
  id: string;
  name: string;
  env: 'preview' | 'dev';
  createdAt: Date;
  updatedAt: Date;
  /** Git metadata of its commit. */
  git?: Record<string, unknown> | undefined;
  isPaused: boolean;
  /** Whether declared schedules fire in it. */
  schedules: boolean;
}

/** The project of a call. */
export interface OfBranches {
  /** Default: the project of the secret key. Required with a personal access token, which covers many projects. */
  projectRef?: string;
}

export async function projectOf(client: ApiClient, projectRef: string | undefined): Promise<string> {
  if (projectRef !== undefined) return projectRef;
  const { project } = await client.call('whoami');
  if (project) return project.ref;
  throw new ConfigurationError(
    'A personal access token covers many projects: specify one, as in branches.list({ projectRef: "proj_…" }).',
  );
}
