/**
 * Caches the variables that runners receive and pushes changes to connected runners. Everything that a runner receives is read here, so the
 * environment's redactor knows every secret that the runner can know.
 */
import { background } from '../background.ts';
import type { MasterKey } from '../auth/seal.ts';
import type { Sql } from '../db/connect.ts';
import type { Wakes } from '../db/wake.ts';
import { inTurns } from '../json/parts.ts';
import { Turns } from '../json/turns.ts';
import type { Log } from '../logger.ts';
import { opened, readVariables } from './read.ts';
import { compileRedactor, createRedactor, type Redactor } from './redact/redactor.ts';

/** The variables that a runner gets. */
export interface RunnerVariables {
  readonly variables: Readonly<Record<string, string>>;
  /** Undefined before the first revision. */
  readonly revision?: number;
  /** Names of secret variables; undefined if there are none. */
  readonly secrets?: readonly string[];
}

/** A connected runner. */
interface ConnectedRunner {
  /** The last revision that was sent to it. */
  revision: number;
  send(message: { readonly type: 'variables' } & RunnerVariables): void;
}

export interface VariableCache {
  /** Reads the variables for a connecting runner. */
  read(env: number): Promise<RunnerVariables>;
  /** Synchronous for an environment that was used recently. */
  redactor(env: number): Redactor | Promise<Redactor>;
  /** Call after a change in an environment or its branches. Resolves when the runners of this process have the new variables. */
  changed(root: number): Promise<void>;
  stop(): void;
}

export interface VariableCacheDependencies {
  readonly sql: Sql;
  readonly masterKey: MasterKey;
  readonly wakes: Wakes;
  readonly log: Log;
  readonly runnersIn: (env: number) => Iterable<ConnectedRunner>;
}

interface Entry {
  readonly root: number;
  revision: number;
  redactor: Redactor;
  usedAt: number;
  /** Changes that may be pushed at once. A script that sets a hundred variables must not start a hundred processes. */
  budget: number;
  budgetAt: number;
  later: NodeJS.Timeout | undefined;
}

/** Fallback for lost notifications. */
const pollMs = 1_000;
/** Token bucket for pushes: this many immediately, then one per `refillMs`. */
const maxBudget = 5;
const refillMs = 400;
const maxIdleMs = 60_000;

export function createVariableCache({
  sql,
  masterKey,
  wakes,
  log,
  runnersIn,
}: VariableCacheDependencies): VariableCache {
  const entries = new Map<number, Entry>();
  const loading = new Map<number, Promise<Redactor>>();

  const load = async (env: number): Promise<RunnerVariables> => {
    const { root, revision, variables, past } = await readVariables(sql, env, { withPast: true });
    const values: [string, string][] = [];
    const secrets = new Set<string>();
    const open = new Set<string>();
    const turns = new Turns();
    for (const variable of variables.values()) {
      await turns.next();
      const value = opened(masterKey, variable);
      values.push([variable.name, value]);
      if (!variable.isSecret) open.add(value);
      else {
        secrets.add(value);
        if (variable.hidden) secrets.add(opened(masterKey, variable.hidden));
      }
    }
    // Most of the history is identical to the current values, byte for byte.
    const current = new Set([...variables.values()].map(({ sealed }) => sealed.toString('latin1')));
    for (const variable of past) {
      await turns.next();
      if (!current.has(variable.sealed.toString('latin1'))) secrets.add(opened(masterKey, variable));
    }
    const redactor = await inTurns(compileRedactor([...secrets].filter((value) => !open.has(value))), turns);
    const entry = entries.get(env);
    // A slower read must not overwrite a newer one.
    if (!entry || revision >= entry.revision) {
      const known = { root, budget: maxBudget, budgetAt: performance.now(), later: undefined, ...entry };
      entries.set(env, { ...known, revision, redactor, usedAt: performance.now() });
    }
    const names = [...variables.values()].flatMap(({ name, isSecret }) => (isSecret ? [name] : []));
    return {
      variables: Object.fromEntries(values),
      ...(revision > 0 && { revision }),
      ...(names.length > 0 && { secrets: names }),
    };
  };

  const push = async (env: number): Promise<void> => {
    const runnerVariables = await load(env);
    const { revision = 0 } = runnerVariables;
    for (const runner of runnersIn(env)) {
      if (runner.revision >= revision) continue;
      runner.revision = revision;
      runner.send({ type: 'variables', ...runnerVariables });
    }
  };

  const pushThrottled = async (env: number): Promise<void> => {
    const entry = entries.get(env);
    if (!entry || entry.later) return;
    const now = performance.now();
    entry.budget = Math.min(maxBudget, entry.budget + (now - entry.budgetAt) / refillMs) - 1;
    entry.budgetAt = now;
    if (entry.budget >= 0) return push(env);
    entry.later = setTimeout(() => {
      const present = entries.get(env);
      if (present) present.later = undefined;
      push(env).catch(failed(env));
    }, refillMs);
    entry.later.unref();
  };

  const failed =
    (env: number) =>
    (error: unknown): void =>
      log.warn('variables.failed', { env, error: String(error) });

  const pushAll = async (root: number): Promise<void> => {
    const envs = [...entries].filter(([, entry]) => entry.root === root).map(([env]) => env);
    await Promise.all(envs.map((env) => pushThrottled(env).catch(failed(env))));
  };

  const poll = async (): Promise<void> => {
    const old = performance.now() - maxIdleMs;
    for (const [env, entry] of entries) {
      if (entry.usedAt < old && [...runnersIn(env)].length === 0) entries.delete(env);
    }
    if (entries.size === 0) return;
    const roots = [...new Set([...entries.values()].map(({ root }) => root))];
    const rows = await sql<{ root: number; revision: number }[]>`
      select root, revision from variable_sets where root = any(${roots}::int[])`;
    const revisions = new Map(rows.map((row) => [row.root, row.revision]));
    for (const [env, entry] of entries) {
      const revision = revisions.get(entry.root) ?? 0;
      const behind = [...runnersIn(env)].some((runner) => runner.revision < revision);
      if (behind || entry.revision < revision) await push(env).catch(failed(env));
    }
  };
  const stopPolling = background(pollMs, poll, failed(0));

  wakes.listen((wake) => {
    if (wake.kind === 'variables') void pushAll(wake.env);
  });

  return {
    read: load,
    redactor(env) {
      const entry = entries.get(env);
      if (entry) {
        entry.usedAt = performance.now();
        return entry.redactor;
      }
      let soon = loading.get(env);
      if (!soon) {
        soon = load(env)
          .then(() => entries.get(env)?.redactor ?? createRedactor([]))
          .finally(() => loading.delete(env));
        loading.set(env, soon);
      }
      return soon;
    },
    async changed(root) {
      wakes.notify({ kind: 'variables', env: root });
      await pushAll(root);
    },
    stop() {
      stopPolling();
      for (const { later } of entries.values()) clearTimeout(later);
    },
  };
}
