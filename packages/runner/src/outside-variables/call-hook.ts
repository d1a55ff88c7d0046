import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkVariables } from './check.ts';
import { VariablesUnread } from './errors.ts';

/** Maximum duration of a hook in milliseconds. */
const defaultTimeoutMs = 30_000;

/** The variables that the default export of a module returns: `async ({ signal }) => ({ API_KEY: '…' })`. The module is imported once. */
export async function callHook(file: string, timeoutMs = defaultTimeoutMs): Promise<Record<string, string>> {
  const from = `The hook ${file}`;
  const signal = AbortSignal.timeout(timeoutMs);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () =>
      reject(new VariablesUnread(`${from} took longer than ${timeoutMs / 1_000} s.`)),
    );
  });
  // If the hook cannot be called, nothing awaits the promise, and an unhandled rejection would end the process.
  late.catch(() => {});
  try {
    const { default: hook } = (await import(pathToFileURL(resolve(file)).href)) as {
      readonly default?: unknown;
    };
    if (typeof hook !== 'function')
      throw new VariablesUnread(
        `${from} must export a function as its default, which returns an object of variables.`,
      );
    const returned: unknown = await Promise.race([
      (hook as (options: { signal: AbortSignal }) => unknown)({ signal }),
      late,
    ]);
    return checkVariables(from, returned);
  } catch (error) {
    if (error instanceof VariablesUnread) throw error;
    throw new VariablesUnread(`${from} failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
