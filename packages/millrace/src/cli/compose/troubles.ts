import type { Screen } from '../screen.ts';
import type { StopRequest } from '../stop-request.ts';

/** The server's warnings and errors, a line each, for a person. */
export function troublesOn({ line, paint }: Pick<Screen, 'line' | 'paint'>, stop: StopRequest) {
  let stopping = false;
  void stop.requested.then(() => (stopping = true));
  return {
    write(text: string): void {
      // That the runner goes is no news then.
      if (stopping) return;
      const {
        fact,
        level,
        time: _,
        err,
        ...fields
      } = JSON.parse(text) as {
        fact: string;
        level: string;
        time: string;
        err?: { message?: string };
      };
      const message = err?.message ?? inWords(fields);
      line(`${level === 'error' ? paint.red('server') : paint.yellow('server')}  ${fact} ${message}`);
    },
  };
}

/** `env 1, reason gone`. */
const inWords = (fields: Readonly<Record<string, unknown>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');
