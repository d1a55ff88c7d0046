import { screenOn } from './screen.ts';
import { waitsFor } from './waiting.ts';

/** Tells on stderr how far it is, once a second at most, in place of what the command waits for. */
export function progressLine(everyMs = 1_000): (text: string) => void {
  const { line, paint } = screenOn(process.stderr);
  let last = Date.now();
  return (text) => {
    if (Date.now() - last < everyMs) return;
    last = Date.now();
    waitsFor();
    line(paint.dim(`${text} …`));
  };
}
