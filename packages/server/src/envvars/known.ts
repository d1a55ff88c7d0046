/**
 * What this process knows of environments' variables, and the runners that are told of changes. What a runner has been sent was read
 * here, secrets included: so whatever it can know, the redactor of its environment knows.
 */
import type { MasterKey } from '../auth/seal.ts';
import type { Sql } from '../db/connect.ts';
import type { Wakes } from '../db/wake.ts';
import type { Log } from '../logger.ts';
import { opened, readVariables } from './read.ts';
import { createRedactor, type Redactor } from './redact/redactor.ts';

/** What a runner is told. */
export interface TaughtVariables {
  readonly variables: Readonly<Record<string, string>>;
  /** Not there before the first. */
  readonly revision?: number;
  /** Names of the secret ones; not there when none is. */
  readonly secrets?: readonly string[];
}

/** A connected runner, as far as variables are concerned. */
interface Audience {
  /** The revision that it was told last. */
  revision: number;
  send(message: { readonly type: 'variables' } & TaughtVariables): void;
}

export interface KnownVariables {
  /** Reads them now: for a runner that connects. */
  read(env: number): Promise<TaughtVariables>;
  /** At once for an environment that has been asked for lately. */
  redactor(env: number): Redactor | Promise<Redactor>;
  /** Variables of an environment or of its branches changed here. Resolves when this process's runners were told. */
  changed(root: number): Promise<void>;
  stop(): void;
}

export interface KnownVariablesDependencies {
  readonly sql: Sql;
  readonly masterKey: MasterKey;
  readonly wakes: Wakes;
  readonly log: Log;
  readonly runnersIn: (env: number) => Iterable<Audience>;
}

interface Entry {
  readonly root: number;
  revision: number;
  redactor: Redactor;
  usedAt: number;
  /** How many more changes are told at once: a script that sets a hundred variables starts no hundred processes. */
  budget: number;
  budgetAt: number;
  later: NodeJS.Timeout | undefined;
}

/** Behind the wake-ups, which may be lost. */
const pollMs = 1_000;
/** So many changes in a row are told as they come, and then one in so many milliseconds. */
const maxBudget = 5;
const refillMs = 400;
const forgetMs = 60_000;

export function knownVariables({
  sql,
  masterKey,
  wakes,
  log,
  runnersIn,
}: KnownVariablesDependencies): KnownVariables {
  const entries = new Map<number, Entry>();
  const loading = new Map<number, Promise<Redactor>>();

  const load = async (env: number): Promise<TaughtVariables> => {
    const { root, revision, variables, past } = await readVariables(sql, env, { withPast: true });
    const values: [string, string][] = [];
    const secrets = new Set<string>();
    const open = new Set<string>();
    for (const variable of variables.values()) {
      const value = opened(masterKey, variable);
      values.push([variable.name, value]);
      if (!variable.isSecret) open.add(value);
      else {
        secrets.add(value);
        if (variable.hidden) secrets.add(opened(masterKey, variable.hidden));
      }
    }
    // Most of the history is what is in force, byte for byte.
    const inForce = new Set([...variables.values()].map(({ sealed }) => sealed.toString('latin1')));
    for (const variable of past) {
      if (!inForce.has(variable.sealed.toString('latin1'))) secrets.add(opened(masterKey, variable));
    }
    const entry = entries.get(env);
    // A read that was overtaken by a later one must not undo it.
    if (!entry || revision >= entry.revision) {
      const redactor = createRedactor([...secrets].filter((value) => !open.has(value)));
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

  const tell = async (env: number): Promise<void> => {
    const taught = await load(env);
    const { revision = 0 } = taught;
    for (const runner of runnersIn(env)) {
      if (runner.revision >= revision) continue;
      runner.revision = revision;
      runner.send({ type: 'variables', ...taught });
    }
  };

  const tellSoon = async (env: number): Promise<void> => {
    const entry = entries.get(env);
    if (!entry || entry.later) return;
    const now = performance.now();
    entry.budget = Math.min(maxBudget, entry.budget + (now - entry.budgetAt) / refillMs) - 1;
    entry.budgetAt = now;
    if (entry.budget >= 0) return tell(env);
    entry.later = setTimeout(() => {
      const present = entries.get(env);
      if (present) present.later = undefined;
      tell(env).catch(failed(env));
    }, refillMs);
    entry.later.unref();
  };

  const failed =
    (env: number) =>
    (error: unknown): void =>
      log.warn('variables.failed', { env, error: String(error) });

  const tellAll = async (root: number): Promise<void> => {
    const envs = [...entries].filter(([, entry]) => entry.root === root).map(([env]) => env);
    await Promise.all(envs.map((env) => tellSoon(env).catch(failed(env))));
  };

  const poll = async (): Promise<void> => {
    const old = performance.now() - forgetMs;
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
      if (behind || entry.revision < revision) await tell(env).catch(failed(env));
    }
  };
  let polling = false;
  const timer = setInterval(() => {
    // A database that is slow to answer is not asked again meanwhile.
    if (polling) return;
    polling = true;
    void poll()
      .catch(failed(0))
      .finally(() => (polling = false));
  }, pollMs);
  timer.unref();

  wakes.listen((wake) => {
    if (wake.kind === 'variables') void tellAll(wake.env);
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
      wakes.tell({ kind: 'variables', env: root });
      await tellAll(root);
    },
    stop() {
      clearInterval(timer);
      for (const { later } of entries.values()) clearTimeout(later);
    },
  };
}
