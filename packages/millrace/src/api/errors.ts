/** The server rejected a request. */
export class ServerRefused extends Error {
  override readonly name = 'ServerRefused';
  readonly status: number;
  /** The invalid fields of the request and their problems. */
  readonly details: readonly { readonly path?: readonly (string | number)[] }[];
  /** The error code, one of `errorCodes`; undefined if the reply has none. */
  readonly code: string | undefined;
  /** The id of the task whose declaration is invalid. */
  readonly task: unknown;
  /** The documentation address from the server. */
  readonly help: string | undefined;

  constructor(
    status: number,
    message: string,
    {
      details,
      task,
      code,
      help,
    }: {
      readonly details?: unknown;
      readonly task?: unknown;
      readonly code?: string | undefined;
      readonly help?: string | undefined;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.details = Array.isArray(details) ? (details as ServerRefused['details']) : [];
    this.task = task;
    this.code = code;
    this.help = help;
  }
}

/** No server responds at the address. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';
}
