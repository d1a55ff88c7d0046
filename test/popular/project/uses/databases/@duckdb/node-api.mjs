import { DuckDBInstance } from '@duckdb/node-api';

export default async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = (await connection.runAndReadAll('select 1 + 1 as n')).getRows();
  connection.closeSync();
  return rows;
};
