/** A line of a stack trace. */
export interface Frame {
  /** The original text. */
  readonly text: string;
  readonly name: string | undefined;
  /** Undefined for frames without a file, such as `native`. */
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Whether it is the user's code: neither of a library nor of Node.js. */
  readonly isOwn: boolean;
}

const located = /^(?:(.+?) \()?((?:file:\/\/|node:)?[^()]*?):(\d+)(?::(\d+))?\)?$/;
const foreign =
  /(?:^|\/)node_modules\/|^node:|^internal\/|^<anonymous>|\/(?:sdk|millrace)\/(?:src|dist)\/executor\//;

/**
 * The frames of a stack trace in V8's format. Other lines, such as those of the message, are left out.
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
 * A path without the common prefix of the stack.
 *
 * @example shortPath('/home/ada/shop/tasks/mail.ts', '/home/ada/shop/') // 'tasks/mail.ts'
 */
export const shortPath = (file: string, common: string): string =>
  file.startsWith(common) && common.length > 1 ? file.slice(common.length) : file;

/** The folder that contains all files of the user's code. */
export function commonFolder(frames: readonly Frame[]): string {
  const files = frames.flatMap(({ file, isOwn }) => (isOwn && file !== undefined ? [file] : []));
  const [first] = files;
  if (first === undefined) return '';
  let end = first.lastIndexOf('/', first.lastIndexOf('/') - 1) + 1;
  while (end > 0 && !files.every((file) => file.startsWith(first.slice(0, end))))
    end = first.lastIndexOf('/', end - 2) + 1;
  return first.slice(0, end);
}
