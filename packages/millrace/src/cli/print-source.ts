import type { deployments as sdkDeployments } from '@millrace/sdk';
import type { Screen } from './screen.ts';

interface Failed {
  readonly version?: string | undefined;
  readonly error?: { readonly stackTrace?: string | undefined } | undefined;
}

/** The first position in a stack trace that is neither in a package nor in Node.js. */
export function ownPosition(stackTrace: string): { file: string; line: number } | undefined {
  for (const text of stackTrace.split('\n')) {
    const [, file = '', line = ''] = /^\s+at (?:.*\()?((?:file:\/\/)?[^()]*?):(\d+):\d+\)?$/.exec(text) ?? [];
    if (file !== '' && !/(?:^|[/\\])node_modules[/\\]|^node:/.test(file)) return { file, line: Number(line) };
  }
  return undefined;
}

/** Prints the lines of the source around the position where a run failed, if the server has them and the key may read them. */
export async function printSource(
  deployments: Pick<typeof sdkDeployments, 'source'>,
  run: Failed | undefined,
  { line, paint }: Screen,
): Promise<void> {
  const { version, error } = run ?? {};
  const position = ownPosition(error?.stackTrace ?? '');
  if (version === undefined || !position) return;
  // This is optional, because permission to see the run does not imply permission to see the code.
  const source = await deployments.source(version, position).catch(() => undefined);
  if (!source || source.lines.length === 0) return;
  line('');
  line(paint.dim(`${source.file}:${position.line}`));
  const width = String(source.lines.at(-1)?.number).length;
  for (const { number, text } of source.lines) {
    const formatted = `${number === position.line ? '>' : ' '} ${String(number).padStart(width)} | ${text.replaceAll('\t', '  ')}`;
    line(number === position.line ? formatted : paint.dim(formatted));
  }
}
