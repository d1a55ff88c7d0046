import Keyv from 'keyv';

export default async () => {
  const cache = new Keyv();
  await cache.set('a', 1);
  return cache.get('a');
};
