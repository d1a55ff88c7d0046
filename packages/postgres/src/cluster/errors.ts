export type PostgresErrorCode =
  | 'no_binaries'
  | 'disk_full'
  | 'permission_denied'
  | 'other_version'
  | 'initdb_failed'
  | 'start_failed';

/** The embedded PostgreSQL cannot run. The message contains the fix and is shown without a stack. */
export class EmbeddedPostgresError extends Error {
  readonly code: PostgresErrorCode;

  constructor(code: PostgresErrorCode, message: string) {
    super(message);
    this.name = 'EmbeddedPostgresError';
    this.code = code;
  }
}

/** Converts the output of initdb or postgres to a sentence; unknown output is quoted. */
export function explainOutput(
  code: 'initdb_failed' | 'start_failed',
  what: string,
  folder: string,
  output: string,
): EmbeddedPostgresError {
  if (/no space left on device|disk quota exceeded/i.test(output)) {
    return new EmbeddedPostgresError(
      'disk_full',
      `${what} because the disk that holds ${folder} is full. Free some space and start again; nothing acknowledged is lost.`,
    );
  }
  if (/permission denied|operation not permitted|read-only file system/i.test(output)) {
    return new EmbeddedPostgresError(
      'permission_denied',
      `${what} because it cannot write to ${folder}. Grant the user that runs Millrace write permission, or choose another folder with --data. Output: ${lastLines(output, 3)}`,
    );
  }
  return new EmbeddedPostgresError(code, `${what} in ${folder}. Output: ${lastLines(output, 8)}`);
}

function lastLines(output: string, count: number): string {
  const lines = output.trim().split('\n').slice(-count).join('\n');
  return lines === '' ? '(nothing)' : lines;
}
