import { parse } from 'yaml';

export default async () => parse('a: [1, 2]');
