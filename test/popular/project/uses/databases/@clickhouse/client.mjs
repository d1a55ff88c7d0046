import { createClient } from '@clickhouse/client';

export default async () => (await createClient({ url: 'http://127.0.0.1:1' }).ping()).success;
