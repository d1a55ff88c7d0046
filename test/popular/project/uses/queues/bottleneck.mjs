import Bottleneck from 'bottleneck';

export default async () => new Bottleneck({ maxConcurrent: 1 }).schedule(async () => 1);
