import { screenOn } from './screen.ts';

let timer: NodeJS.Timeout | undefined;

/**
 * Sets the message about the current wait. After a moment it is printed on stderr, so that the user knows why the command pauses. Call this
 * without an argument when the wait has ended.
 */
export function waitsFor(what?: string, quietMs = 1_500): void {
  clearTimeout(timer);
  timer = undefined;
  if (what === undefined) return;
  const { line, paint } = screenOn(process.stderr);
  timer = setTimeout(() => line(paint.dim(`Waiting for ${what} …`)), quietMs).unref();
}

/** The same for a server, with a longer delay. */
export const waitsForServer = (url: string): void => waitsFor(`${url} to answer`, 3_000);
