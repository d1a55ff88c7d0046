/** The server refused a request. */
export class ServerRefused extends Error {
  override readonly name = 'ServerRefused';
  readonly status: number;
  /** What is wrong with which field of the request. */
  readonly details: readonly { readonly path?: readonly (string | number)[] }[];
  /** For programs; undefined if the server gave none. */
  readonly code: string | undefined;
  /** Where the server says that it is explained. */
  readonly help: string | undefined;

  constructor(
    status: number,
    message: string,
    {
      details,
      code,
      help,
    }: { readonly details?: unknown; readonly code?: unknown; readonly help?: string | undefined } = {},
  ) {
    super(message);
    this.status = status;
    this.details = Array.isArray(details) ? (details as ServerRefused['details']) : [];
    this.code = typeof code === 'string' ? code : undefined;
    this.help = help;
  }
}

/** No server answers at the address. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';
}
