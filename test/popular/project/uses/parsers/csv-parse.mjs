import { parse } from 'csv-parse/sync';

export default async () => parse('a,b\n1,2', { columns: true });
