import semver from 'semver';

/** The newest minor version whose exports and options the table contains. */
export const newestMinor = 8;

/** Whether the published SDK of a project may have exports and options that the table lacks. */
export const isNewer = (version: string): boolean => {
  const parsed = semver.parse(version);
  return parsed !== null && (parsed.major > 4 || parsed.minor > newestMinor);
};

export const unknownNote = (version: string): string =>
  `Millrace supports 4.0 to 4.${newestMinor} of @trigger.dev/sdk, and ${version} is installed: remove it, or install 4.${newestMinor}`;
