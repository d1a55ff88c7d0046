import { formatInTimeZone } from 'date-fns-tz';

export default async () => formatInTimeZone(new Date(0), 'Asia/Tokyo', 'HH:mm');
