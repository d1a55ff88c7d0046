import { screenOn } from './screen.ts';
import { waitsFor } from './waiting.ts';

/** Shows progress on stderr, at most once a second, in place of the command's waiting message. */
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
