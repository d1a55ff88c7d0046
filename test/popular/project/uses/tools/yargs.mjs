import yargs from 'yargs';

/** Reads its locales from a folder of the package. */
export default async () => (await yargs(['--a', 'b']).locale('de').getHelp()).includes('Optionen');
