import { parse } from 'acorn';

export default async () => parse('1 + 1', { ecmaVersion: 2024 }).body.length;
