import { LRUCache } from 'lru-cache';

export default async () => new LRUCache({ max: 1 }).set('a', 1).set('b', 2).has('a');
