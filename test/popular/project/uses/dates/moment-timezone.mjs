import moment from 'moment-timezone';

export default async () => moment.tz(0, 'Asia/Tokyo').format();
