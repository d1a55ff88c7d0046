import { alerts } from '../alerts/index.ts';
import { publicTokens } from '../auth/public-tokens.ts';
import { batch } from '../batch/index.ts';
import { branches } from '../branches/index.ts';
import { deployments } from '../deployments/index.ts';
import { envvars } from '../envvars/index.ts';
import { errors } from '../errors/index.ts';
import { events } from '../events/index.ts';
import { logs } from '../logs/index.ts';
import { notifications } from '../notifications/index.ts';
import { queues } from '../queues/index.ts';
import { runs } from '../runs/index.ts';
import { schedules } from '../schedules/index.ts';
import { sessions } from '../sessions/index.ts';
import { stats } from '../stats/index.ts';
import { tasks } from '../task/index.ts';
import { wait } from '../wait/index.ts';
import { webhooks } from '../webhooks/index.ts';
import { ApiClient } from './api-client.ts';
import { beginningWith } from './override.ts';
import type { ClientSettings } from './settings.ts';
import type { TasksIn, TypedBatch, TypedTasks } from './typed-tasks.ts';

type Verb = (...args: never[]) => unknown;

/** The same functions using a separate client, including those of nested namespaces (`runs.bulk`). */
function bound<N extends object>(namespace: N, client: ApiClient): N {
  const entries = Object.entries(namespace).map(([name, verb]: [string, unknown]) => [
    name,
    typeof verb === 'function'
      ? (...args: never[]) => beginningWith(client, () => (verb as Verb)(...args))
      : bound(verb as object, client),
  ]);
  // Each function is the same except for its client.
  return Object.fromEntries(entries) as N;
}

/**
 * An independent client, for processes that use several projects, environments or branches. It shares nothing with `configure`, `auth.withAuth`
 * or other clients, and may be used concurrently. Omitted settings come from `MILLRACE_API_URL`, `MILLRACE_SECRET_KEY`, `MILLRACE_ACCESS_TOKEN`
 * and `MILLRACE_PREVIEW_BRANCH`.
 *
 * With the type of your tasks, their ids, payloads and outputs are checked. Only the type is imported: no task code is loaded into your program
 * or its bundle.
 *
 * Nothing is checked and no variable is read before the first call, so a module may create a client while a program is built. An invalid
 * setting makes each call throw a ConfigurationError. A client has no connections of its own: connections to the same address are shared in the
 * process.
 *
 * @example
 * import type * as tasks from './tasks/index.ts';
 * const millrace = new MillraceClient<typeof tasks>();
 * const handle = await millrace.tasks.trigger('resize-image', { url });
 *
 * @example
 * const billing = new MillraceClient({ secretKey: process.env.BILLING_KEY });
 * const preview = new MillraceClient({ secretKey: process.env.PREVIEW_KEY, previewBranch: 'feat/login' });
 * await billing.tasks.trigger('charge', { order });
 * await preview.runs.retrieve('run_…');
 */
export class MillraceClient<TTasks extends object | undefined = undefined> {
  readonly tasks: TTasks extends object ? TypedTasks<TasksIn<TTasks>> : typeof tasks;
  readonly batch: TTasks extends object ? TypedBatch<TasksIn<TTasks>> : typeof batch;
  readonly runs: typeof runs;
  readonly errors: typeof errors;
  readonly schedules: Omit<typeof schedules, 'task'>;
  readonly queues: typeof queues;
  readonly events: typeof events;
  readonly webhooks: typeof webhooks;
  readonly sessions: typeof sessions;
  readonly wait: Pick<typeof wait, 'createToken' | 'completeToken' | 'retrieveToken' | 'listTokens'>;
  readonly logs: typeof logs;
  readonly stats: typeof stats;
  readonly notifications: typeof notifications;
  readonly alerts: typeof alerts;
  readonly envvars: typeof envvars;
  readonly deployments: typeof deployments;
  readonly branches: typeof branches;
  readonly auth: typeof publicTokens;

  constructor(settings: ClientSettings = {}) {
    const client = new ApiClient(settings);
    // The same functions, with narrower types.
    this.tasks = bound(tasks, client) as this['tasks'];
    this.batch = bound(batch, client) as this['batch'];
    this.runs = bound(runs, client);
    this.errors = bound(errors, client);
    this.schedules = bound(schedules, client);
    this.queues = bound(queues, client);
    this.events = bound(events, client);
    this.webhooks = bound(webhooks, client);
    this.sessions = bound(sessions, client);
    this.wait = bound(wait, client);
    this.logs = bound(logs, client);
    this.stats = bound(stats, client);
    this.notifications = bound(notifications, client);
    this.alerts = bound(alerts, client);
    this.envvars = bound(envvars, client);
    this.deployments = bound(deployments, client);
    this.branches = bound(branches, client);
    this.auth = bound(publicTokens, client);
  }
}
