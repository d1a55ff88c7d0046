import ms from 'ms';

export default async () => ms('2 days');
