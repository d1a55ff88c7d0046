import { algoliasearch } from 'algoliasearch';

export default async () => typeof algoliasearch('a', 'b').search;
