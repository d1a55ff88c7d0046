const foreign = /^\s+at .*(?:node_modules[\\/]|\(?node:)/;

/** A stack trace in which consecutive frames of packages and Node.js are collapsed into one line, unless there are no others. */
export function foldedStack(stack: string): string {
  const lines = stack.split('\n');
  if (!lines.some((line) => /^\s+at /.test(line) && !foreign.test(line))) return stack;
  const folded: string[] = [];
  let hidden: string[] = [];
  const close = (): void => {
    folded.push(...(hidden.length > 1 ? [`    … ${hidden.length} frames of packages and Node.js`] : hidden));
    hidden = [];
  };
  for (const line of lines) {
    if (foreign.test(line)) {
      hidden.push(line);
      continue;
    }
    close();
    folded.push(line);
  }
  close();
  return folded.join('\n');
}
