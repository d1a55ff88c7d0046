import { globalHooks, hasGlobalHooks } from './global.ts';
import type { HookArguments, HookName, HookOf, Hooks } from './types.ts';

/** Milliseconds that a hook at the end of an attempt may take: what it watches is over, and its run is not to wait for ever. */
export const hookLimitMs = 30_000;

/** The hooks of one task's attempt, and what all of them are told. */
export interface HookCalls {
  readonly own: Hooks;
  readonly args: HookArguments;
  /** Takes a sentence about a hook that failed. */
  readonly warn: (sentence: string, thrown?: unknown) => void;
}

/** Those for all tasks in the order of their registration, then the task's own. */
export const hooksOf = <K extends HookName>({ own }: Pick<HookCalls, 'own'>, name: K): HookOf<K>[] => {
  const hook = own[name];
  return [...globalHooks(name), ...(hook === undefined ? [] : [hook as HookOf<K>])];
};

/** Whether a call would call anything: most tasks have no hooks, and their attempts are not to pay for them. */
export const hasHooks = ({ own }: Pick<HookCalls, 'own'>, name: HookName): boolean =>
  own[name] !== undefined || hasGlobalHooks(name);

/** Hooks that belong to the attempt: one after the other, and what one throws is thrown. */
export async function callAll(calls: HookCalls, name: 'onStart' | 'onStartAttempt'): Promise<void> {
  for (const hook of hooksOf(calls, name)) await hook(calls.args);
}

type Watching = 'onSuccess' | 'onFailure' | 'onComplete' | 'onCancel';

/** Hooks that watch: what one throws, or does for too long, is written to the run's log and changes nothing. */
export async function callWatching<K extends Watching>(
  calls: HookCalls,
  name: K,
  more: Omit<Parameters<HookOf<K>>[0], keyof HookArguments>,
  limitMs = hookLimitMs,
): Promise<void> {
  for (const hook of hooksOf(calls, name)) {
    const act = hook as (args: unknown) => unknown;
    try {
      if (!(await within(limitMs, async () => act({ ...calls.args, ...more })))) {
        calls.warn(`${name} took longer than ${limitMs / 1_000} s: the run goes on without it.`);
      }
    } catch (thrown) {
      calls.warn(`${name} failed`, thrown);
    }
  }
}

/** False when it is not over in time; it goes on. */
export async function within(ms: number, act: () => Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([act().then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
