/** A backup cannot be made or restored. The message says why and what to do. */
export class BackupFailed extends Error {
  override readonly name = 'BackupFailed';
}

/** The folders that a command names cannot be used, so nothing was begun. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}
