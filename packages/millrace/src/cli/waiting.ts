import { screenOn } from './screen.ts';

let timer: NodeJS.Timeout | undefined;

/**
 * What the command waits for from now on. It is said on stderr when that takes more than a moment, so that nobody sits before a
 * screen that tells nothing. Without a word it waits for nothing any more.
 */
export function waitsFor(what?: string, quietMs = 1_500): void {
  clearTimeout(timer);
  timer = undefined;
  if (what === undefined) return;
  const { line, paint } = screenOn(process.stderr);
  timer = setTimeout(() => line(paint.dim(`Waiting for ${what} …`)), quietMs).unref();
}

/** The same for a server: it may take its time before that is worth a word. */
export const waitsForServer = (url: string): void => waitsFor(`${url} to answer`, 3_000);
