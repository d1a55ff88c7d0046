/** The kinds of hooks, named as in the methods of their manager. `StartAttempt` came after 4.0. */
const kinds = [
  'Init',
  'Start',
  'StartAttempt',
  'Success',
  'Failure',
  'Complete',
  'Cancel',
  'Wait',
  'Resume',
  'CatchError',
  'Middleware',
  'Cleanup',
] as const;
export type HookKind = (typeof kinds)[number];
export type HookFunction = (args: never) => unknown;

interface Registration {
  readonly id?: string;
  readonly fn: HookFunction;
}

interface Registered {
  readonly id: unknown;
  readonly name: string | undefined;
  readonly fn: HookFunction;
}

/** The hooks registered by task files and `trigger.config.ts`: `tasks.onStart(…)` and those of a task. */
export class Hooks {
  readonly #global = new Map<HookKind, Map<unknown, Registered>>();
  readonly #ofTasks = new Map<HookKind, Map<string, HookFunction>>();

  addGlobal(kind: HookKind, { id, fn }: Registration): void {
    const hooks = this.#global.get(kind) ?? new Map<unknown, Registered>();
    // A named hook replaces the earlier one with that name. A function that is registered twice is called once.
    this.#global.set(kind, hooks.set(id ?? fn, { id: id ?? fn.name, name: id, fn }));
  }

  addOfTask(kind: HookKind, task: string, fn: HookFunction): void {
    const hooks = this.#ofTasks.get(kind) ?? new Map<string, HookFunction>();
    this.#ofTasks.set(kind, hooks.set(task, fn));
  }

  global(kind: HookKind): Registered[] {
    return [...(this.#global.get(kind)?.values() ?? [])];
  }

  /** All functions registered for all tasks. */
  globals(): HookFunction[] {
    return kinds.flatMap((kind) => this.global(kind).map(({ fn }) => fn));
  }

  ofTask(kind: HookKind, task: string): HookFunction | undefined {
    return this.#ofTasks.get(kind)?.get(task);
  }

  has(kind: HookKind, task: string): boolean {
    return (this.#global.get(kind)?.size ?? 0) > 0 || this.ofTask(kind, task) !== undefined;
  }

  /** Whether an attempt has code before or after its `run`. Hooks for waits are called within it. */
  isWrapped(task: string): boolean {
    return kinds.some((kind) => kind !== 'Wait' && kind !== 'Resume' && this.has(kind, task));
  }

  /** The hooks for all tasks in the order of their registration, then the task's own. */
  of(kind: HookKind, task: string): HookFunction[] {
    const own = this.ofTask(kind, task);
    return [...this.global(kind).map(({ fn }) => fn), ...(own ? [own] : [])];
  }
}

/** The `lifecycle-hooks` API. The adapter itself does the work of its listeners. */
export function hooksApi(hooks: Hooks): object {
  const api: Record<string, unknown> = { reset() {} };
  for (const kind of kinds) {
    api[`registerGlobal${kind}Hook`] = (hook: Registration) => hooks.addGlobal(kind, hook);
    api[`registerTask${kind}Hook`] = (task: string, hook: Registration) =>
      hooks.addOfTask(kind, task, hook.fn);
    api[`getGlobal${kind}Hooks`] = () => hooks.global(kind);
    api[`getTask${kind}Hook`] = (task: string) => hooks.ofTask(kind, task);
  }
  for (const kind of ['Wait', 'Resume', 'Cancel']) {
    api[`registerOn${kind}HookListener`] = () => undefined;
    api[`callOn${kind}HookListeners`] = async () => undefined;
  }
  return api;
}
