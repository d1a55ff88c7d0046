import { Redis } from '@upstash/redis';

export default async () => typeof new Redis({ url: 'http://127.0.0.1:1', token: 'none' }).get;
