import moment from 'moment';

/** Locales are files that moment loads when they are asked for. */
export default async () => moment.utc(0).locale('de').format('dddd, D. MMMM YYYY');
