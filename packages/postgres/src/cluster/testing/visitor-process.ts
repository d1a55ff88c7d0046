// A process that tries to connect to the socket of an embedded PostgreSQL. Prints one line of JSON with the result.
import postgres from 'postgres';

const [host = '', username = ''] = process.argv.slice(2);
const sql = postgres({ host, port: 5432, database: 'millrace', username, max: 1, connect_timeout: 10 });
try {
  const [row] = await sql<{ user: string }[]>`select current_user as user`;
  console.log(JSON.stringify({ entered: row?.user }));
} catch (error) {
  console.log(JSON.stringify({ refused: (error as Error).message }));
}
await sql.end({ timeout: 0 });
