import pLimit from 'p-limit';

export default async () => pLimit(1)(async () => 1);
