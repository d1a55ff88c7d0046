/** The upgrade cannot begin. The message says why and what to do; nothing was changed. */
export class UpgradeRefused extends Error {
  override readonly name = 'UpgradeRefused';
}

/** The upgrade was tried and failed. The database is as it was before. */
export class UpgradeFailed extends Error {
  override readonly name = 'UpgradeFailed';
}
