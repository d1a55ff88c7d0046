import geoip from 'geoip-lite';

/** Its database is files of the package. */
export default async () => geoip.lookup('8.8.8.8')?.country;
