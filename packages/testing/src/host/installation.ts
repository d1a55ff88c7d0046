import { createHash, randomBytes } from 'node:crypto';
import type { TaskManifest } from '@millrace/contract/runner';
import { connect, createLog, parseMasterKey, readOpenWork, startServer } from '@millrace/server';
import type { Cluster } from './cluster.ts';
import type { HostCalls, TestProject } from './protocol.ts';

/** A server with its own database, for one test file. */
export interface Installation {
  readonly url: string;
  /** Sets the tasks of later projects. */
  use(tasks: readonly TaskManifest[]): void;
  project(before: string | undefined): Promise<TestProject>;
  work(environment: string): Promise<HostCalls['work']['reply']>;
  moveTo(at: number, jobs: readonly string[]): Promise<HostCalls['moveTo']['reply']>;
  close(): Promise<void>;
}

/** Longer than any test moves the clock, so that runners never count as lost, nor data as old. */
const endlessMs = 200 * 365 * 86_400_000;
/** The longest delay of a Node.js timer. */
const maxTimerMs = 2 ** 31 - 1;

const retention = {
  logsMs: endlessMs,
  occurrencesMs: endlessMs,
  errorHoursMs: endlessMs,
  eventsMs: endlessMs,
  notificationsMs: endlessMs,
  sessionsMs: endlessMs,
  recordsMs: endlessMs,
  runsMs: endlessMs,
};

export async function startInstallation(
  cluster: Cluster,
  onLog: (line: string) => void,
): Promise<Installation> {
  const database = await cluster.create();
  const sql = connect(database, { name: 'millrace-testing', max: 1 });
  const server = await startServer({
    database,
    port: 0,
    masterKey: parseMasterKey(randomBytes(32).toString('hex'), 'the key of the tests'),
    log: createLog({ write: onLog }),
    rateLimits: {},
    // A process that is stopped at a breakpoint does not respond.
    leaseTimes: { leaseMs: endlessMs, pingMs: maxTimerMs, graceMs: 1 },
    retention,
    notificationNetworks: ['127.0.0.0/8', '::1/128'],
  });
  const token = server.credentials?.personalAccessToken ?? '';
  const ask = async <T>(method: string, path: string, body?: object, key = token): Promise<T> => {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };

  const [organization] = await sql<{ id: string }[]>`select id from organizations`;
  const first = server.credentials?.projectRef ?? '';
  let tasks: readonly TaskManifest[] = [];
  /** A project with the tasks registered. */
  const prepare = async (ref: string | undefined): Promise<Omit<TestProject, 'now'>> => {
    const body = { name: 'Tests' };
    const projectRef =
      ref ?? (await ask<{ id: string }>('POST', `/api/v1/orgs/${organization?.id}/projects`, body)).id;
    const { id, apiKey = '' } = await ask<{ id: string; apiKey?: string }>(
      'GET',
      `/api/v1/projects/${projectRef}/dev`,
    );
    const contentHash = createHash('sha256').update(JSON.stringify(tasks)).digest('hex');
    const { version } = await ask<{ version: string }>(
      'POST',
      '/runner/v1/versions',
      { contentHash, tasks },
      apiKey,
    );
    return { projectRef, environment: id, secretKey: apiKey, version };
  };
  // One is always created in advance, so that no test waits for its project.
  let next: Promise<Omit<TestProject, 'now'>> | undefined;
  const prepareNext = (ref?: string): Promise<unknown> => {
    next = prepare(ref);
    next.catch(() => undefined);
    return next;
  };

  return {
    url: server.url,
    use(manifests) {
      tasks = manifests;
      void prepareNext(first);
    },
    async project(before) {
      const project = await next;
      if (!project) throw new Error('The engine was not started.');
      const prepared = prepareNext();
      // Its schedules and waiting runs must not continue during later tests.
      if (before !== undefined)
        void prepared
          .then(() => ask('DELETE', `/api/v1/projects/${before}?confirm=${before}`))
          .catch((error: unknown) => onLog(String(error)));
      return { ...project, now: server.now() };
    },
    async work(environment) {
      return { ...(await readOpenWork(sql, environment)), now: server.now() };
    },
    async moveTo(at, jobs) {
      const by = at - server.now();
      if (by > 0) {
        await sql`update test_clock set shift_ms = shift_ms + ${by}::float8`;
        server.shiftTime(by);
      }
      server.wakeJobs(jobs);
      return { now: server.now() };
    },
    async close() {
      await next?.catch(() => undefined);
      await server.close();
      await sql.end({ timeout: 1 });
      await cluster.drop(database);
    },
  };
}
