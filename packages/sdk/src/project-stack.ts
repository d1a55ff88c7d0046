let prefixes: readonly string[] = [];

/** Sets the folders of the project's code, as paths and URLs with a trailing separator. Error stacks show paths relative to them. */
export function setProjectFolders(folders: readonly string[]): void {
  prefixes = folders;
}

const isFrame = /^\s+at /;
/** Frames of the code that called the task. */
const caller =
  /^\s+at .*(?:callTaskOfMillrace|[\\/](?:sdk|millrace)[\\/](?:src|dist)[\\/](?:executor|published|chunks)[\\/]|\(?node:internal\/)/;
/** `util.inspect` appends it to the last frame of an error that has fields. */
const startOfFields = ' {';

/**
 * The stacks in a text, with paths relative to the project and without the Millrace frames that called the task. A runner stores deployed code
 * in a cache, whose path is irrelevant. Frames between those of the project are retained.
 */
export function projectStack(text: string): string {
  if (!text.includes('    at ')) return text;
  const found: string[] = [];
  let frames: string[] = [];
  for (const line of text.split('\n')) {
    if (isFrame.test(line)) frames.push(line);
    else {
      found.push(...projectFrames(frames), line);
      frames = [];
    }
  }
  return [...found, ...projectFrames(frames)].join('\n');
}

/** The frames of one stack. If no frame belongs to the project or a package, the frames of Millrace are retained. */
function projectFrames(frames: readonly string[]): string[] {
  const last = frames.findLastIndex((frame) => !caller.test(frame));
  const lines = (last === -1 ? frames : frames.slice(0, last + 1)).map((frame) =>
    prefixes.reduce((shorter, prefix) => shorter.replaceAll(prefix, ''), frame),
  );
  if (last !== frames.length - 1 && last !== -1 && frames.at(-1)?.endsWith(startOfFields))
    lines[last] += startOfFields;
  return lines;
}
