/** How long repetitions of a line are only counted, in milliseconds. */
const windowMs = 10_000;
/** Maximum number of tracked lines. Further ones are written directly. */
const maxRemembered = 1_000;

interface Repeated<T> {
  last: T;
  count: number;
  readonly timer: NodeJS.Timeout;
}

export interface FoldedRepeats<T> {
  /** `key` identifies equal lines; it does not contain the time. */
  add(line: T, key: string): void;
  /** Writes the counted repetitions. */
  end(): void;
}

/** Writes a line immediately, and its repetitions at most every ten seconds, with their number. */
export function foldRepeats<T>(write: (line: T, repeated: number) => void): FoldedRepeats<T> {
  const remembered = new Map<string, Repeated<T>>();
  const close = (key: string): void => {
    const repeated = remembered.get(key);
    if (!repeated) return;
    clearTimeout(repeated.timer);
    remembered.delete(key);
    if (repeated.count === 0) return;
    write(repeated.last, repeated.count);
    // A repeating line is written once in each window.
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

/** For JSON log lines: `repeated` is the number of repetitions. */
export function foldJsonLines(destination: { write(line: string): void }): {
  write(line: string): void;
  end(): void;
} {
  const folded = foldRepeats<string>((line, repeated) =>
    destination.write(repeated === 0 ? line : line.replace(/\}\n?$/, `,"repeated":${repeated}}\n`)),
  );
  return { write: (line) => folded.add(line, line.replace(time, '')), end: folded.end };
}
