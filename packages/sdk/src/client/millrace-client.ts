import { publicTokens } from '../auth/public-tokens.ts';
import { batch } from '../batch/index.ts';
import { branches } from '../branches/index.ts';
import { deployments } from '../deployments/index.ts';
import { envvars } from '../envvars/index.ts';
import { errors } from '../errors/index.ts';
import { runs } from '../runs/index.ts';
import { schedules } from '../schedules/index.ts';
import { tasks } from '../task/index.ts';
import { ApiClient } from './api-client.ts';
import { beginningWith } from './override.ts';
import type { ClientSettings } from './settings.ts';

type Verb = (...given: never[]) => unknown;

/** The same functions, working through a client of their own. */
function bound<N extends object>(namespace: N, client: ApiClient): N {
  const entries = Object.entries(namespace).map(([name, verb]) => [
    name,
    typeof verb === 'function'
      ? (...given: never[]) => beginningWith(client, () => (verb as Verb)(...given))
      : verb,
  ]);
  // Each function is what it was but for the client.
  return Object.fromEntries(entries) as N;
}

/**
 * A client of its own, for processes that speak to several projects, environments or branches: nothing of it is shared with
 * `configure`, with `auth.withAuth` or with other clients, and it holds wherever it is used, also concurrently. What is not
 * given comes from `MILLRACE_API_URL`, `MILLRACE_SECRET_KEY`, `MILLRACE_ACCESS_TOKEN` and `MILLRACE_PREVIEW_BRANCH`.
 *
 * Throws a ConfigurationError when it has no address or no credential.
 *
 * @example
 * const billing = new MillraceClient({ secretKey: process.env.BILLING_KEY });
 * const preview = new MillraceClient({ secretKey: process.env.PREVIEW_KEY, previewBranch: 'feat/login' });
 * await billing.tasks.trigger('charge', { order });
 * await preview.runs.retrieve('run_…');
 */
export class MillraceClient {
  readonly tasks: typeof tasks;
  readonly batch: typeof batch;
  readonly runs: typeof runs;
  readonly errors: typeof errors;
  readonly schedules: Omit<typeof schedules, 'task'>;
  readonly envvars: typeof envvars;
  readonly deployments: typeof deployments;
  readonly branches: typeof branches;
  readonly auth: typeof publicTokens;

  constructor(settings: ClientSettings) {
    const client = new ApiClient(settings);
    this.tasks = bound(tasks, client);
    this.batch = bound(batch, client);
    this.runs = bound(runs, client);
    this.errors = bound(errors, client);
    this.schedules = bound(schedules, client);
    this.envvars = bound(envvars, client);
    this.deployments = bound(deployments, client);
    this.branches = bound(branches, client);
    this.auth = bound(publicTokens, client);
  }
}
