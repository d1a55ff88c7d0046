/**
 * As much of the peers' types as is used here: they are installed only where benchmarks run, and the repository's type check
 * does without them.
 */
declare module 'graphile-worker' {
  import type { Pool } from 'pg';
  export class Logger {
    constructor(factory: (scope: object) => (level: string, message: string) => void);
    error(message: string): void;
  }
  interface Spec {
    readonly identifier: string;
    readonly payload: unknown;
  }
  interface WorkerUtils {
    migrate(): Promise<void>;
    addJob(identifier: string, payload: unknown): Promise<unknown>;
    addJobs(specs: readonly Spec[]): Promise<unknown>;
    release(): Promise<void>;
  }
  interface Common {
    readonly logger: Logger;
    readonly connectionString?: string | undefined;
    readonly pgPool?: Pool;
  }
  export function makeWorkerUtils(options: Common): Promise<WorkerUtils>;
  export function run(
    options: Common & {
      readonly preset?: { readonly worker: object };
      readonly concurrency?: number;
      readonly pollInterval?: number;
      readonly noHandleSignals: boolean;
      readonly taskList: Readonly<Record<string, (payload: unknown) => Promise<void>>>;
    },
  ): Promise<{ stop(): Promise<void> }>;
}

declare module 'pg-boss' {
  export interface Settings {
    readonly max?: number;
    readonly supervise?: boolean;
    readonly schedule?: boolean;
    readonly useListenNotify?: boolean;
    readonly superviseIntervalSeconds?: number;
    readonly monitorIntervalSeconds?: number;
  }
  export class PgBoss {
    constructor(options: Settings & { readonly connectionString: string });
    on(event: 'error', hear: (error: Error) => void): void;
    start(): Promise<unknown>;
    stop(options: { readonly graceful: boolean }): Promise<void>;
    createQueue(name: string, options: object): Promise<void>;
    send(name: string, data: object): Promise<unknown>;
    insert(name: string, rows: readonly { readonly data: object }[]): Promise<unknown>;
    work<T>(
      name: string,
      options: object,
      act: (batch: readonly { readonly id: string; readonly data: T }[]) => Promise<unknown>,
    ): Promise<unknown>;
  }
}

declare module 'bullmq' {
  interface RedisConnection {
    readonly path: string;
    readonly maxRetriesPerRequest: null;
  }
  interface PostgresConnection {
    readonly connectionString: string;
    readonly max: number;
    readonly migrate?: boolean;
  }
  /** The backend that `withBackend` binds classes to. */
  interface Backend<Connection> {
    readonly connection: Connection;
  }
  export const createPostgresBackend: Backend<PostgresConnection>;
  export function withBackend<Connection>(backend: Backend<Connection>): {
    readonly Queue: new (name: string, options: { readonly connection: Connection }) => Queue;
    readonly Worker: new <T>(
      name: string,
      act: (job: { readonly data: T }) => Promise<void>,
      options: WorkerOptions<Connection>,
    ) => Worker<T>;
  };
  interface WorkerOptions<Connection> {
    readonly connection: Connection;
    readonly concurrency: number;
    readonly lockDuration?: number;
    readonly stalledInterval?: number;
  }
  export class Queue {
    constructor(name: string, options: { readonly connection: RedisConnection });
    waitUntilReady(): Promise<unknown>;
    add(name: string, data: object, options: object): Promise<unknown>;
    addBulk(
      rows: readonly { readonly name: string; readonly data: object; readonly opts: object }[],
    ): Promise<unknown>;
    getJobCounts(...states: readonly string[]): Promise<Record<string, number>>;
    close(): Promise<void>;
  }
  export class Worker<T> {
    constructor(
      name: string,
      act: (job: { readonly data: T }) => Promise<void>,
      options: WorkerOptions<RedisConnection>,
    );
    on(event: 'error', hear: (error: Error) => void): void;
    waitUntilReady(): Promise<unknown>;
    close(force: boolean): Promise<void>;
  }
}

declare module 'ioredis' {
  export class Redis {
    constructor(options: {
      readonly path: string;
      readonly lazyConnect?: boolean;
      readonly retryStrategy?: null;
    });
    on(event: 'error', hear: (error: Error) => void): void;
    connect(): Promise<void>;
    ping(): Promise<string>;
    flushall(): Promise<string>;
    xadd(stream: string, id: string, field: string, value: string): Promise<string>;
    xread(...words: readonly (string | number)[]): Promise<[string, [string, string[]][]][] | null>;
    disconnect(): void;
  }
}
