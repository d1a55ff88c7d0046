/** Variables that a runner gets from sources other than the server, which never sees their values. */
import { callHook } from './call-hook.ts';
import { readFolder } from './read-folder.ts';
import { runCommand } from './run-command.ts';

export { VariablesUnread } from './errors.ts';

/** The sources of variables. If several define a name, the last source here applies. */
export interface VariableSources {
  readonly folder?: string | undefined;
  readonly command?: string | undefined;
  readonly hook?: string | undefined;
  /** Milliseconds between two reads. */
  readonly refreshMs: number;
}

export interface OutsideVariables {
  readonly values: Readonly<Record<string, string>>;
  /** Called when a variable has changed. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
}

export interface ReadVariables extends OutsideVariables {
  close(): void;
}

/**
 * Reads them now and again every `refreshMs`. Rejects with `VariablesUnread` if the first read fails. After later failures, the last values
 * remain in use and `onProblem` is called each time.
 */
export async function readOutsideVariables(
  sources: VariableSources,
  onProblem: (sentence: string) => void,
): Promise<ReadVariables> {
  let values = await readAll(sources);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const listeners = new Set<() => void>();
  const again = async (): Promise<void> => {
    try {
      const now = await readAll(sources);
      if (!closed && JSON.stringify(now) !== JSON.stringify(values)) {
        values = now;
        for (const listener of listeners) listener();
      }
    } catch (error) {
      if (!closed) onProblem(`${(error as Error).message} The previous variables remain in use.`);
    }
    plan();
  };
  const plan = (): void => {
    if (!closed) timer = setTimeout(() => void again(), sources.refreshMs).unref();
  };
  plan();
  return {
    get values() {
      return values;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

async function readAll({ folder, command, hook }: VariableSources): Promise<Record<string, string>> {
  const read = [
    folder === undefined ? {} : await readFolder(folder),
    command === undefined ? {} : await runCommand(command),
    hook === undefined ? {} : await callHook(hook),
  ];
  return Object.assign({}, ...read) as Record<string, string>;
}
