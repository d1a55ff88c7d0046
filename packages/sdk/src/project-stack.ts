let prefixes: readonly string[] = [];

/** Sets the folders of the project's code, as paths and URLs with the last separator. Stacks of errors show paths below them. */
export function setProjectFolders(folders: readonly string[]): void {
  prefixes = folders;
}

const isFrame = /^\s+at /;
/** Frames of the code that called a task. */
const caller =
  /^\s+at .*(?:callTaskOfMillrace|[\\/](?:sdk|millrace)[\\/](?:src|dist)[\\/](?:executor|published|chunks)[\\/]|\(?node:internal\/)/;
/** `util.inspect` writes it behind the last frame of an error that has fields. */
const startOfFields = ' {';

/**
 * The stacks in a text, with paths relative to the project and without the frames of Millrace that called the task. A runner keeps deployed
 * code in a cache, whose path is irrelevant. Frames between those of the project stay.
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

/** The frames of one stack. Without any frame of the project or a package, Millrace's are all there is. */
function projectFrames(frames: readonly string[]): string[] {
  const last = frames.findLastIndex((frame) => !caller.test(frame));
  const kept = (last === -1 ? frames : frames.slice(0, last + 1)).map((frame) =>
    prefixes.reduce((shorter, prefix) => shorter.replaceAll(prefix, ''), frame),
  );
  if (last !== frames.length - 1 && last !== -1 && frames.at(-1)?.endsWith(startOfFields))
    kept[last] += startOfFields;
  return kept;
}
