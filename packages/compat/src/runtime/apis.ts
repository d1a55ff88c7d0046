/**
 * Where every copy of the published SDK, ESM or CommonJS, looks for the implementation that executes its tasks: `registerGlobal` and
 * `getGlobal` of `@trigger.dev/core/v3/utils/globals`. The symbol is the same in 4.0, 4.4, 4.5 and 4.8. A version ignores names that it
 * does not know.
 */
const slot = Symbol.for('dev.trigger.ts.api');

/** The names that 4.0 to 4.8 look up. */
export type ApiName =
  | 'api-client'
  | 'heartbeats'
  | 'lifecycle-hooks'
  | 'locals'
  | 'logger'
  | 'resource-catalog'
  | 'run-metadata'
  | 'runtime'
  | 'task-context'
  | 'usage'
  | 'wait-until'
  /** 4.1 and later. */
  | 'realtime-streams'
  /** 4.4 and later. */
  | 'input-streams'
  /** 4.5 and later. */
  | 'session-streams';

export type Apis = Partial<Record<ApiName, object | undefined>>;

/** Must be called before a copy is imported. Getters in `apis` are preserved. */
export function registerApis(apis: Apis): void {
  const holder = globalThis as { [slot]?: Apis };
  holder[slot] = Object.defineProperties(holder[slot] ?? {}, Object.getOwnPropertyDescriptors(apis));
}
