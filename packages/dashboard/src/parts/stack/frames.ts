/** A line of a stack trace. */
export interface Frame {
  /** As it was written. */
  readonly text: string;
  readonly name: string | undefined;
  /** Undefined for what has no file, such as `native`. */
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Code of the user's: neither of a library nor of Node.js. */
  readonly isOwn: boolean;
}

const located = /^(?:(.+?) \()?((?:file:\/\/|node:)?[^()]*?):(\d+)(?::(\d+))?\)?$/;
const foreign =
  /(?:^|\/)node_modules\/|^node:|^internal\/|^<anonymous>|\/(?:sdk|millrace)\/(?:src|dist)\/executor\//;

/**
 * The frames of a stack trace as V8 writes it. Lines that are none (the message, which may have several) are left out.
 *
 * @example framesOf('Error: x\n    at send (/app/tasks/mail.ts:12:9)') // [{ name: 'send', file: '/app/tasks/mail.ts', line: 12, … }]
 */
export const framesOf = (stack: string): readonly Frame[] =>
  stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => {
      const text = line.trim().slice('at '.length);
      const [, name, path, row, column] = located.exec(text) ?? [];
      const file = path?.replace(/^file:\/\//, '');
      return {
        text,
        name: name?.replace(/^async /, '') ?? (file === undefined ? text : undefined),
        file,
        line: row === undefined ? undefined : Number(row),
        column: column === undefined ? undefined : Number(column),
        isOwn: file !== undefined && !foreign.test(file),
      };
    });

/**
 * A path without what all paths of the stack begin with, which says nothing.
 *
 * @example shortPath('/home/ada/shop/tasks/mail.ts', '/home/ada/shop/') // 'tasks/mail.ts'
 */
export const shortPath = (file: string, common: string): string =>
  file.startsWith(common) && common.length > 1 ? file.slice(common.length) : file;

/** The folder that all own files are in. */
export function commonFolder(frames: readonly Frame[]): string {
  const files = frames.flatMap(({ file, isOwn }) => (isOwn && file !== undefined ? [file] : []));
  const [first] = files;
  if (first === undefined) return '';
  let end = first.lastIndexOf('/', first.lastIndexOf('/') - 1) + 1;
  while (end > 0 && !files.every((file) => file.startsWith(first.slice(0, end))))
    end = first.lastIndexOf('/', end - 2) + 1;
  return first.slice(0, end);
}
