import type { Screen } from '../screen.ts';
import type { StopRequest } from '../stop-request.ts';

/** Prints the server's warnings and errors for a person, one line each. */
export function printWarnings({ line, paint }: Pick<Screen, 'line' | 'paint'>, stop: StopRequest) {
  let stopping = false;
  void stop.requested.then(() => (stopping = true));
  return {
    write(text: string): void {
      // These are expected while stopping.
      if (stopping) return;
      const {
        event,
        level,
        time: _,
        err,
        ...fields
      } = JSON.parse(text) as {
        event: string;
        level: string;
        time: string;
        err?: { message?: string };
      };
      const message = err?.message ?? inWords(fields);
      line(`${level === 'error' ? paint.red('server') : paint.yellow('server')}  ${event} ${message}`);
    },
  };
}

/** `env 1, reason gone`. */
const inWords = (fields: Readonly<Record<string, unknown>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');
