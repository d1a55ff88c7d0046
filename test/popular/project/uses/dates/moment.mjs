import moment from 'moment';

/** Locales are files that moment loads on demand. */
export default async () => moment.utc(0).locale('de').format('dddd, D. MMMM YYYY');
