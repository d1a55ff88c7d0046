/** Exit codes; docs/operations.md lists them for scripts. */
export const exitCodes = {
  ok: 0,
  /** The command was tried and failed: a run failed, an id is unknown. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** Nothing was started: port taken, data folder in use, database, master key, project. */
  cannotStart: 3,
  /** No server at the address, or it refused the key. */
  cannotReach: 4,
  /** `doctor` found nothing worse than warnings. */
  warned: 5,
  /** Stopped at once by a second Ctrl-C or other signal. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command with one clear sentence on stderr. */
export class CommandFailed extends Error {
  override name = 'CommandFailed';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, sentence: string) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
