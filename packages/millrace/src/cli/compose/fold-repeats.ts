/** Milliseconds in which a line that comes again is only counted. */
const windowMs = 10_000;
/** Different lines that are remembered at once. Beyond that they are written as they come. */
const maxRemembered = 1_000;

interface Repeated<T> {
  last: T;
  count: number;
  readonly timer: NodeJS.Timeout;
}

export interface FoldedRepeats<T> {
  /** `key`: what makes two lines the same; the time is no part of it. */
  add(line: T, key: string): void;
  /** Writes what has only been counted so far. */
  end(): void;
}

/** Writes a line at once, and the same line again no sooner than after ten seconds, with how many there were meanwhile. */
export function foldRepeats<T>(write: (line: T, repeated: number) => void): FoldedRepeats<T> {
  const remembered = new Map<string, Repeated<T>>();
  const close = (key: string): void => {
    const repeated = remembered.get(key);
    if (!repeated) return;
    clearTimeout(repeated.timer);
    remembered.delete(key);
    if (repeated.count === 0) return;
    write(repeated.last, repeated.count);
    // What goes on repeating is written once in each window.
    open(repeated.last, key);
  };
  const open = (last: T, key: string): void => {
    if (remembered.size >= maxRemembered) return;
    const timer = setTimeout(() => close(key), windowMs).unref();
    remembered.set(key, { last, count: 0, timer });
  };
  return {
    add(line, key) {
      const repeated = remembered.get(key);
      if (repeated) {
        repeated.count += 1;
        repeated.last = line;
        return;
      }
      write(line, 0);
      open(line, key);
    },
    end() {
      for (const [key, { timer, last, count }] of remembered) {
        clearTimeout(timer);
        remembered.delete(key);
        if (count > 0) write(last, count);
      }
    },
  };
}

const time = /"time":"[^"]*",/;

/** For the JSON lines of a log: a line that stands for others has their number in `repeated`. */
export function foldJsonLines(destination: { write(line: string): void }): {
  write(line: string): void;
  end(): void;
} {
  const folded = foldRepeats<string>((line, repeated) =>
    destination.write(repeated === 0 ? line : line.replace(/\}\n?$/, `,"repeated":${repeated}}\n`)),
  );
  return { write: (line) => folded.add(line, line.replace(time, '')), end: folded.end };
}
