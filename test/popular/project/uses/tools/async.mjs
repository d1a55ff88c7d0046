import async from 'async';

export default async () => async.mapLimit([1, 2], 1, async (n) => n * 2);
