/** The upgrade cannot start. The message contains the reason and the fix; nothing was changed. */
export class UpgradeRefused extends Error {
  override readonly name = 'UpgradeRefused';
}

/** The upgrade failed. The database is unchanged. */
export class UpgradeFailed extends Error {
  override readonly name = 'UpgradeFailed';
}
