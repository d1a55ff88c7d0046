/** The system as the packages of the embedded PostgreSQL name it. */
export const packagePlatform = (
  system: NodeJS.Platform = process.platform,
  processor: string = process.arch,
): string => `${system === 'win32' ? 'windows' : system}-${processor}`;
