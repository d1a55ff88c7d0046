/** This runner cannot serve a version. The message contains the reason and is sent to the server. */
export class CannotServe extends Error {
  override readonly name = 'CannotServe';
}

/** There is no room for it in addition to the entries in use. */
export class DiskFull extends CannotServe {
  constructor(folder: string) {
    super(`the disk of the cache ${folder} is full`);
  }
}

/** The received content does not match the version. Fetching it again may succeed. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;

export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
