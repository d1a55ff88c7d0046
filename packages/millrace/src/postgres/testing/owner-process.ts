// A process that owns a data folder, for tests that kill it. Prints one line of JSON when it knows how it went.
import { startPostgres } from '../start.ts';

const [dataDir = ''] = process.argv.slice(2);
try {
  const { connection } = await startPostgres({ dataDir });
  console.log(JSON.stringify({ connection }));
} catch (error) {
  const { name, message } = error as Error;
  console.log(JSON.stringify({ refused: { name, message } }));
}
