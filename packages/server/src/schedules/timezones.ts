const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC');

/** The IANA time zones of this runtime, with UTC first if requested. */
export const timezones = (withUtc: boolean): string[] => (withUtc ? ['UTC', ...zones] : zones);
