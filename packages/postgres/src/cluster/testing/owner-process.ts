// A process that owns a data folder, for tests that kill it. Prints one line of JSON with the result.
import type { Ways } from '../../../../platform/src/ways.ts';
import { startPostgres } from '../start.ts';

const [dataDir = '', ways = 'unix'] = process.argv.slice(2);
try {
  const { connection } = await startPostgres({ dataDir, ways: ways as Ways });
  console.log(JSON.stringify({ connection }));
} catch (error) {
  const { name, message } = error as Error;
  console.log(JSON.stringify({ refused: { name, message } }));
}
