import NodeCache from 'node-cache';

export default async () => new NodeCache().set('a', 1);
