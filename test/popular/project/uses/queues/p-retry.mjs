import pRetry from 'p-retry';

export default async () => pRetry(async (attempt) => attempt);
