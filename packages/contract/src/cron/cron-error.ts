/**
 * An invalid cron expression, time zone or window. Its message describes the problem and the valid format, and is meant to be shown to the
 * caller verbatim.
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

/** Input is echoed in messages; truncating it keeps them short. */
export function quote(text: string): string {
  return `'${text.length > 60 ? `${text.slice(0, 60)}…` : text}'`;
}
