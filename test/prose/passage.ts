/** Text for people, with the line of each of its characters. */
export interface Passage {
  readonly place: 'page' | 'heading' | 'comment' | 'string' | 'markup';
  /** The first line in its file, counted from 1. */
  readonly line: number;
  /** On as many lines as in the file. Code inside of it is blanked out. */
  readonly text: string;
}

/** The part of a file from `start` to `end`. */
export function passage(
  place: Passage['place'],
  source: string,
  [start, end]: readonly [number, number],
  clean: (text: string) => string = (text) => text,
): Passage {
  return { place, line: lineAt(source, start), text: clean(source.slice(start, end)) };
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** Spaces instead of each character except line ends, so that offsets and lines stay the same. */
export const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

/** A word of underscores instead of code. */
export const codeWord = (text: string): string => text.replaceAll(/[^\n]/g, '_');

/** Whether a string literal is a sentence or a phrase, as opposed to a name, code, SQL or a command. */
export function isPhrase(text: string): boolean {
  const trimmed = text.trim();
  if (/=>|^(?:import|export) |\bawait \w+[.(]/.test(trimmed)) return false;
  if (
    /^(?:select|insert|update|delete|with|create|alter|drop|lock|set|grant|revoke|begin|explain|vacuum|truncate|copy)\s/.test(
      trimmed,
    )
  )
    return (
      /[a-z] [a-z]+[.:]? ?$/i.test(trimmed) && !/[=();*]|\b(?:from|into|table|where|index)\b/i.test(trimmed)
    );
  return /(?:^|\s)[A-Za-z][a-z]*[,:;]?\s+[a-z]+[,:;]?\s+\S*[a-z]/.test(trimmed);
}
