import { pino } from 'pino';
import { limitStacks } from './log-stacks.ts';

/** The names of all log events of the server. */
export type LogEvent =
  | 'server.started'
  | 'realtime.failed'
  | 'server.stopped'
  | 'server.paused'
  | 'server.resumed'
  | 'masterKey.changed'
  | 'masterKey.failed'
  | 'request.failed'
  | 'request.refused'
  | 'database.lost'
  | 'database.pooled'
  | 'listener.silent'
  | 'runner.connected'
  | 'runner.left'
  | 'runner.lost'
  | 'runner.refused'
  | 'runner.started'
  | 'runner.stopping'
  | 'variables.unread'
  | 'runner.stopped'
  | 'runner.disconnected'
  | 'runner.stopRequested'
  | 'branch.served'
  | 'branch.left'
  | 'browser.refused'
  | 'oidc.refused'
  | 'oidc.ended'
  | 'oidc.away'
  | 'version.served'
  | 'version.loaded'
  | 'version.damaged'
  | 'version.unable'
  | 'project.problem'
  | 'attempt.ended'
  | 'attempts.unlisted'
  | 'executor.output'
  | 'runs.released'
  | 'runs.unconfirmed'
  | 'bootstrap.ignored'
  | 'bundleStore.away'
  | 'bundleStore.lacking'
  | 'variables.failed'
  | 'version.registered'
  | 'version.uploaded'
  | 'version.promoted'
  | 'runs.rescued'
  | 'complete.failed'
  | 'lines.waiting'
  | 'lines.notStored'
  | 'lines.notNoted'
  | 'job.failed'
  | 'dispatch.failed'
  | 'resume.failed'
  | 'wait.failed'
  | 'session.unserved'
  | 'endpoint.disabled'
  | 'wal.unarchived';

export interface Log {
  info(event: LogEvent, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: LogEvent, fields?: Readonly<Record<string, unknown>>): void;
  error(event: LogEvent, fields?: Readonly<Record<string, unknown>>): void;
}

/**
 * Writes JSON lines to `destination` (default stderr). Credentials are removed from every line. The stack of an error in `err` is written once a
 * minute for each kind.
 */
export function createLog(destination: { write(line: string): void } = process.stderr, level = 'info'): Log {
  const logger = pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => destination.write(withoutSecrets(line)) },
  );
  const briefly = limitStacks();
  const write =
    (kind: 'info' | 'warn' | 'error') =>
    (event: LogEvent, fields: Readonly<Record<string, unknown>> = {}): void =>
      logger[kind]({ event, ...briefly(fields) });
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

const secret =
  /\b(?:svc|tr)_(?:dev|stg|prod|preview|pat|inv|code|browser|link)_[0-9A-Za-z_]{8,}|\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]{4,}/g;

const withoutSecrets = (line: string): string =>
  line.includes('_') || line.includes('eyJ') ? line.replace(secret, '<secret>') : line;
