/** Exit codes; docs/cli.md lists them for scripts. */
export const exitCodes = {
  ok: 0,
  /** The command ran but failed; for example, a run failed or an id is unknown. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** Nothing was started: port taken, data folder in use, database, master key, project. */
  cannotStart: 3,
  /** No server at the address, or it rejected the key. */
  cannotReach: 4,
  /** `doctor` found nothing worse than warnings. */
  warned: 5,
  /** Stopped immediately, by a second Ctrl-C or another signal. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command with a one-sentence message on stderr. */
export class CommandFailed extends Error {
  override name = 'CommandFailed';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, sentence: string) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
