import { setImmediate } from 'node:timers/promises';
import type { PublishedSettings } from '@millrace/contract/runner';
import { configurationIn, configuredHooks, configuredKinds } from '../settings/configuration.ts';
import { registerApis } from './apis.ts';
import { currentAttempt, type Deferred } from './attempt.ts';
import { apiUrl } from './call-api.ts';
import { Catalog, type Refused, type Registered } from './catalog.ts';
import { definedTask } from './define.ts';
import { Hooks, hooksApi, type HookFunction } from './hooks.ts';
import { indexPublished, type Imported } from './index-tasks.ts';
import { inputStreamsApi } from './input-streams.ts';
import { loggerApi } from './logger.ts';
import { metadataApi } from './metadata.ts';
import { sessionStreamsApi } from './session-streams.ts';
import { streamsApi } from './streams.ts';
import { clientApi, installWire, placeholder } from './wire.ts';
import { runtimeApi } from './waits.ts';

export type { Imported };

/** Executes tasks of the published SDK in this process. */
export interface Published {
  /** The registrations since the last call. */
  readonly take: () => { readonly tasks: readonly Registered[]; readonly refused: readonly Refused[] };
  /** A registered task converted to one of ours. Must be called after all task files are imported. */
  readonly define: (registered: Registered) => ReturnType<typeof definedTask>;
  /** The tasks that task files have registered. Must be called after all of them are imported. */
  readonly index: (
    sdk: Parameters<typeof indexPublished>[0],
    imported: readonly Imported[],
    projectDir: string,
  ) => ReturnType<typeof indexPublished>;
  /** The functions that are registered as hooks for all tasks. */
  readonly globalHooks: () => readonly HookFunction[];
  /** Registers the hooks of a configuration: the exports of its file. */
  readonly configure: (exported: Readonly<Record<string, unknown>>) => void;
}

/** Installs everything where copies of the published SDK look for it. Must be called before task files are imported. */
export function installPublished(settings: PublishedSettings): Published {
  const catalog = new Catalog();
  const hooks = new Hooks();
  const outside = new Map<unknown, unknown>();
  const locals = (): Map<unknown, unknown> => currentAttempt()?.locals ?? outside;
  registerApis({
    'api-client': clientApi,
    'resource-catalog': catalog.api,
    'lifecycle-hooks': hooksApi(hooks),
    // It contains the context itself; its presence indicates that the code is inside a task.
    get 'task-context'() {
      return currentAttempt() && taskContext;
    },
    runtime: runtimeApi(hooks),
    'run-metadata': metadataApi(streamsApi),
    'realtime-streams': streamsApi,
    'input-streams': inputStreamsApi(),
    'session-streams': sessionStreamsApi(),
    logger: loggerApi(settings.logLevel),
    locals: {
      createLocal: (id: string) => ({ __type: Symbol.for(id), id }),
      getLocal: (key: { __type: symbol }) => locals().get(key.__type),
      setLocal: (key: { __type: symbol }, value: unknown) => void locals().set(key.__type, value),
    },
    usage: usageApi,
    heartbeats: {
      startHeartbeat() {},
      stopHeartbeat() {},
      yield: () => setImmediate(),
      lastHeartbeat: undefined,
      reset() {},
    },
    'wait-until': waitUntilApi,
  });
  // Code that configures a client with these variables also calls this server, on behalf of its run.
  Object.assign(process.env, { TRIGGER_API_URL: apiUrl(), TRIGGER_SECRET_KEY: placeholder });
  installWire(catalog.prompts);
  let taken = { tasks: 0, refused: 0 };
  const define: Published['define'] = ({ task }) => definedTask(task, catalog, hooks, settings);
  return {
    take() {
      const { registered, refused } = catalog;
      const fresh = { tasks: registered.slice(taken.tasks), refused: refused.slice(taken.refused) };
      taken = { tasks: registered.length, refused: refused.length };
      return fresh;
    },
    define,
    index: (sdk, imported, projectDir) =>
      indexPublished(sdk, define, imported, projectDir, catalog.webhooks.withoutTask()),
    globalHooks: () => hooks.globals(),
    configure: (exported) => addConfigured(hooks, configurationIn(exported)),
  };
}

const taskContext = {
  get ctx() {
    return currentAttempt()?.ctx;
  },
  get worker() {
    const version = currentAttempt()?.ctx.run.version;
    return version === undefined ? undefined : { id: version, contentHash: '', version };
  },
  isWarmStart: true,
};

const none = { cpuTime: 0, wallTime: 0 };
const usageApi = {
  disable() {},
  reset() {},
  async flush() {},
  start: () => currentAttempt()?.usage.start(),
  stop: (measurement: never) => currentAttempt()?.usage.stop(measurement) ?? none,
  pauseAsync: (act: () => Promise<unknown>) => currentAttempt()?.usage.pause(act) ?? act(),
  sample: () => currentAttempt()?.usage.sample(),
  getInitialState: () => ({ cpuTime: 0, costInCents: 0 }),
};

const waitUntilApi = {
  register: (deferred: Deferred) => void currentAttempt()?.deferred.add(deferred),
};

function addConfigured(hooks: Hooks, configuration: unknown): void {
  if (typeof configuration !== 'object' || configuration === null) return;
  const config = configuration as Readonly<Record<string, unknown>>;
  for (const name of configuredHooks(config))
    hooks.addGlobal(configuredKinds[name], { id: 'config', fn: config[name] as HookFunction });
}
