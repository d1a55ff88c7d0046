/** A backup cannot be created or restored. The message contains the reason and the fix. */
export class BackupFailed extends Error {
  override readonly name = 'BackupFailed';
}

/** The folders of a command cannot be used, so nothing was started. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}
