import { parseString } from 'fast-csv';

export default async () => {
  const rows = [];
  for await (const row of parseString('a,b\n1,2', { headers: true })) rows.push(row);
  return rows;
};
