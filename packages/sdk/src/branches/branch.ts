import type { ApiClient } from '../client/api-client.ts';
import { ConfigurationError } from '../client/settings.ts';

/** A live branch of preview or dev. */
export interface Branch {
  id: string;
  name: string;
  env: 'preview' | 'dev';
  createdAt: Date;
  updatedAt: Date;
  /** What is known of its commit. */
  git?: Record<string, unknown> | undefined;
  isPaused: boolean;
  /** Whether schedules that tasks declare fire in it. */
  schedules: boolean;
}

/** Which project a call is about. */
export interface OfBranches {
  /** Default: the project of the secret key. A personal access token is for many, so it must be given. */
  projectRef?: string;
}

export async function projectOf(client: ApiClient, projectRef: string | undefined): Promise<string> {
  if (projectRef !== undefined) return projectRef;
  const { project } = await client.call('whoami');
  if (project) return project.ref;
  throw new ConfigurationError(
    'A personal access token is for many projects: give one, as in branches.list({ projectRef: "proj_…" }).',
  );
}
