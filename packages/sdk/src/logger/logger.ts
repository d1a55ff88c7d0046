import type { LogLevel } from '@millrace/contract/runner';
import { boundedText } from '../bounded-text.ts';
import { currentRun } from '../run-scope.ts';
import { maxCharacters, propertiesText } from './properties.ts';
import { unreadable } from './readable.ts';

/** Untyped callers may pass anything. */
function textOf(message: unknown): string {
  try {
    return String(message);
  } catch (thrown) {
    return unreadable(thrown);
  }
}

const at =
  (level: LogLevel) =>
  (message: string, properties?: Record<string, unknown>): void => {
    const run = currentRun();
    if (!run) {
      if (properties === undefined) console[level](message);
      else console[level](message, properties);
      return;
    }
    run.onLog({
      at: Date.now(),
      level,
      message: boundedText(textOf(message), maxCharacters),
      ...(properties === undefined ? {} : { properties: propertiesText(properties) }),
    });
  };

/**
 * Writes lines with properties. Inside a run they go to the run's log, which `runs.logs` and the dashboard show; elsewhere to the console.
 * Messages and properties are truncated to 65,536 characters. Never throws.
 *
 * @example
 * logger.info('charged', { customer: payload.customerId, cents: 1250 });
 */
export const logger = {
  debug: at('debug'),
  info: at('info'),
  log: at('log'),
  warn: at('warn'),
  error: at('error'),
};
