import { DateTime } from 'luxon';

export default async () => DateTime.fromMillis(0, { zone: 'Asia/Tokyo' }).toISO();
