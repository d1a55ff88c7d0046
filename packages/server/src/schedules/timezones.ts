const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC');

/** The IANA zones of this runtime, UTC first where it is wanted. */
export const timezones = (withUtc: boolean): string[] => (withUtc ? ['UTC', ...zones] : zones);
