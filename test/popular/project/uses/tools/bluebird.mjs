import Bluebird from 'bluebird';

export default async () => Bluebird.map([1, 2], (n) => n * 2);
