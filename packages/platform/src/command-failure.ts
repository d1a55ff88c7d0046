/** Maximum duration in milliseconds of a shell command that prints a secret or variables. */
export const commandMs = 30_000;

interface Ended {
  readonly isLate: boolean;
  /** Its signal, its exit code, or the reason why it could not be started. 0 means that it printed nothing. */
  readonly endedWith: string | number | null | undefined;
  readonly stderr: string;
}

/** A message about a failed shell command, with the last line of its stderr. Its output is never shown. */
export function failureOfCommand(from: string, { isLate, endedWith, stderr }: Ended): string {
  const complaint = stderr.trim().split('\n').at(-1) ?? '';
  const why = endedWith === 0 ? 'printed nothing' : `ended with ${endedWith}`;
  return `${from} ${isLate ? `took longer than ${commandMs / 1_000} s` : why}${complaint === '' ? '' : `: ${complaint}`}`;
}
