/** Milliseconds that a shell command which brings a secret or variables may take. */
export const commandMs = 30_000;

interface Ended {
  readonly isLate: boolean;
  /** Its signal, its exit code, or why it could not be started. 0: it had to print something. */
  readonly endedWith: string | number | null | undefined;
  readonly stderr: string;
}

/** How a shell command failed, with the last line of its stderr. What it printed is never shown. */
export function failureOfCommand(from: string, { isLate, endedWith, stderr }: Ended): string {
  const complaint = stderr.trim().split('\n').at(-1) ?? '';
  const why = endedWith === 0 ? 'printed nothing' : `ended with ${endedWith}`;
  return `${from} ${isLate ? `took longer than ${commandMs / 1_000} s` : why}${complaint === '' ? '' : `: ${complaint}`}`;
}
