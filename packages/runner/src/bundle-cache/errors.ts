/** This runner cannot serve a version. The message says why, and goes to the server. */
export class CannotServe extends Error {
  override readonly name = 'CannotServe';
}

/** There is no room for it beside what is used. */
export class DiskFull extends CannotServe {
  constructor(folder: string) {
    super(`the disk of the cache ${folder} is full`);
  }
}

/** What arrived is not what the version says. It may be right when it is fetched again. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;

export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
