/**
 * A cron expression, time zone or window that cannot be used. Its message says what is wrong and what to write
 * instead, and is meant to be shown to the caller as it is.
 *
 * @example
 * try {
 *   parseCron('60 * * * *');
 * } catch (error) {
 *   if (error instanceof CronError) console.log(error.message);
 *   // Invalid cron expression: 60 is out of range in the minute field; write 0-59.
 * }
 */
export class CronError extends Error {
  override readonly name = 'CronError';
}

/** Input is echoed in messages; a cut keeps them short whatever was sent. */
export function quote(text: string): string {
  return `'${text.length > 60 ? `${text.slice(0, 60)}…` : text}'`;
}
