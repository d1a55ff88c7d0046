import { CommanderError } from 'commander';
import { CommandFailed, exitCodes, type ExitCode } from './exit-codes.ts';

// By name, so that looking at an error does not load server, runner and SDK into every command.
const cannotStart = new Set([
  'DatabaseRefused',
  'DataFolderInUse',
  'EmbeddedPostgresError',
  'MasterKeyRefused',
  'MetricsRefused',
  'NetworksRefused',
  'OptionalPackageMissing',
  'ProjectError',
]);
const cannotReach = new Set([
  'ApiConnectionError',
  'AuthenticationError',
  'PermissionDeniedError',
  'RunnerRefused',
]);
const usage = new Set(['BootstrapRefused', 'ConfigurationError']);

export interface Explained {
  readonly exitCode: ExitCode;
  /** Undefined when it was said already. */
  readonly sentence?: string;
}

/** What a person reads of an error, and how the process ends. */
export function explain(error: unknown): Explained {
  // commander has printed what is wrong with the command line; --help and --version come this way too.
  if (error instanceof CommanderError) {
    return { exitCode: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage };
  }
  if (!(error instanceof Error)) return { exitCode: exitCodes.failed, sentence: String(error) };
  if (error instanceof CommandFailed) return { exitCode: error.exitCode, sentence: error.message };
  if (cannotStart.has(error.name)) return { exitCode: exitCodes.cannotStart, sentence: error.message };
  if (cannotReach.has(error.name)) return { exitCode: exitCodes.cannotReach, sentence: error.message };
  if (usage.has(error.name)) return { exitCode: exitCodes.usage, sentence: error.message };
  // A reply of the server (404, 422 …) or a file that cannot be written needs no stack.
  const isReply = typeof (error as { status?: unknown }).status === 'number';
  const isSystem = typeof (error as NodeJS.ErrnoException).syscall === 'string';
  return {
    exitCode: exitCodes.failed,
    sentence: isReply || isSystem ? error.message : (error.stack ?? error.message),
  };
}
