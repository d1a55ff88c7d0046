/** The visible part of a timeline. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

const shortest = 1;

/** A window of this length around a time, inside the whole; undefined for all of it. */
function inside(whole: Window, middle: number, length: number): Window | undefined {
  if (length >= whole.to - whole.from) return undefined;
  const half = Math.max(shortest, length) / 2;
  const from = Math.min(Math.max(whole.from, middle - half), whole.to - 2 * half);
  return { from, to: from + 2 * half };
}

/** Zooms in with a factor below 1, around a line if one is given and visible. */
export function zoomed(view: Window, whole: Window, factor: number, line?: Window): Window | undefined {
  const middle =
    line && line.to >= view.from && line.from <= view.to
      ? (Math.max(line.from, view.from) + Math.min(line.to, view.to)) / 2
      : (view.from + view.to) / 2;
  return inside(whole, middle, (view.to - view.from) * factor);
}

/** Moves it earlier or later by a fraction of its length. */
export const moved = (view: Window, whole: Window, by: number): Window | undefined => {
  const length = view.to - view.from;
  return inside(whole, (view.from + view.to) / 2 + by * length, length);
};

/** The range of a line, with a margin. */
export const around = (line: Window, whole: Window): Window | undefined =>
  inside(whole, (line.from + line.to) / 2, (line.to - line.from) * 1.2);
