/** The server refused a request. */
export class ServerRefused extends Error {
  override readonly name = 'ServerRefused';
  readonly status: number;
  /** What is wrong with which field of the request. */
  readonly details: readonly { readonly path?: readonly (string | number)[] }[];
  /** Which failure it is, one of `errorCodes`; undefined if the reply has none. */
  readonly code: string | undefined;
  /** The id of the task that is declared wrongly. */
  readonly task: unknown;
  /** Where the server says that it is explained. */
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

/** No server answers at the address. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';
}
