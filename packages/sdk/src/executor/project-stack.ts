let prefixes: readonly string[] = [];

/** Sets the folders of the project's code, as paths and URLs with the last separator. Stacks of errors show paths below them. */
export function setProjectFolders(folders: readonly string[]): void {
  prefixes = folders;
}

const isFrame = /^\s+at /;
/** Frames of the code that called a task. */
const caller =
  /^\s+at .*(?:callTaskOfMillrace|[\\/](?:sdk|millrace)[\\/](?:src|dist)[\\/](?:executor|published|chunks)[\\/]|\(?node:internal\/)/;

/**
 * A stack with paths relative to the project, and without the frames of Millrace that called the task. A runner keeps deployed code in a
 * cache, whose path is irrelevant. Frames between those of the project stay.
 */
export function projectStack(stack: string): string {
  const lines = stack
    .split('\n')
    .map((line) =>
      isFrame.test(line) ? prefixes.reduce((text, prefix) => text.replaceAll(prefix, ''), line) : line,
    );
  const last = lines.findLastIndex((line) => !caller.test(line));
  // Without any frame of the project or a package, Millrace's are all there is.
  return isFrame.test(lines[last] ?? '') ? lines.slice(0, last + 1).join('\n') : lines.join('\n');
}
