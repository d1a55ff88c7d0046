import dayjs from 'dayjs';
import 'dayjs/locale/de.js';
import utc from 'dayjs/plugin/utc.js';

export default async () => dayjs.extend(utc) && dayjs.utc(0).locale('de').format('dddd, D. MMMM YYYY');
