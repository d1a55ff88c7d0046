import Fuse from 'fuse.js';

export default async () => new Fuse(['hello', 'world']).search('wrld').map(({ item }) => item);
