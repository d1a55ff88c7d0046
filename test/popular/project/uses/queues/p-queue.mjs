import PQueue from 'p-queue';

export default async () => new PQueue({ concurrency: 1 }).addAll([async () => 1, async () => 2]);
