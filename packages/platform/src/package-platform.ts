/** The platform name used by the packages of the embedded PostgreSQL. */
export const packagePlatform = (
  system: NodeJS.Platform = process.platform,
  processor: string = process.arch,
): string => `${system === 'win32' ? 'windows' : system}-${processor}`;
