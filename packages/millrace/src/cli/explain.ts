import { CommanderError } from 'commander';
import { CommandFailed, exitCodes, type ExitCode } from './exit-codes.ts';

// Checked by name, so that not every command has to load the server, the runner and the SDK.
const cannotStart = new Set([
  'BackupRefused',
  'DatabaseRefused',
  'DataFolderInUse',
  'EmbeddedPostgresError',
  'ExportRefused',
  'FolderRefused',
  'MasterKeyRefused',
  'MetricsRefused',
  'NetworksRefused',
  'OptionalPackageMissing',
  'ProjectError',
  'ProjectRefused',
  'StoreRefused',
  'UpgradeRefused',
]);
const cannotReach = new Set([
  'ApiConnectionError',
  'AuthenticationError',
  'PermissionDeniedError',
  'RunnerRefused',
  'ServerUnreachable',
  'SourceUnreachable',
]);
const usage = new Set(['BootstrapRefused', 'ConfigurationError']);

export interface Explained {
  readonly exitCode: ExitCode;
  /** Undefined if the message has already been printed. */
  readonly sentence?: string;
  /** The documentation address from the server. */
  readonly help?: string | undefined;
}

/** The message and the exit code of an error. */
export function explain(error: unknown): Explained {
  const { help } = Object(error) as { help?: unknown };
  return { ...sentenceOf(error), ...(typeof help === 'string' && { help }) };
}

function sentenceOf(error: unknown): Explained {
  // commander has printed its message. --help and --version are errors too.
  if (error instanceof CommanderError) {
    return { exitCode: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage };
  }
  if (!(error instanceof Error)) return { exitCode: exitCodes.failed, sentence: String(error) };
  if (error instanceof CommandFailed) return { exitCode: error.exitCode, sentence: error.message };
  if (cannotStart.has(error.name)) return { exitCode: exitCodes.cannotStart, sentence: error.message };
  if (cannotReach.has(error.name)) return { exitCode: exitCodes.cannotReach, sentence: error.message };
  if (usage.has(error.name)) return { exitCode: exitCodes.usage, sentence: error.message };
  if (error.name === 'ServerRefused' && [401, 403].includes((error as Error & { status: number }).status))
    return { exitCode: exitCodes.cannotReach, sentence: error.message };
  if (error.name === 'BackupFailed' || error.name === 'UpgradeFailed')
    return { exitCode: exitCodes.failed, sentence: error.message };
  // An error response (404, 422 …) or a file that cannot be written needs no stack.
  const isReply = typeof (error as { status?: unknown }).status === 'number';
  const isSystem = typeof (error as NodeJS.ErrnoException).syscall === 'string';
  return {
    exitCode: exitCodes.failed,
    sentence: isReply || isSystem ? error.message : (error.stack ?? error.message),
  };
}
