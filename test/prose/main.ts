/**
 * Lists text that reads as a translation, banned identifiers and misspelled words: `npm run prose`.
 *
 * Paths limit the list to files that begin with them. The exit code is 1 if there are any.
 */
import { lineOf, report } from './report.ts';

const paths = process.argv.slice(2);
const { open } = await report();
const listed = open.filter(({ at }) => paths.length === 0 || paths.some((start) => at.startsWith(start)));
for (const finding of listed) process.stdout.write(`${lineOf(finding)}\n`);
process.exitCode = listed.length > 0 ? 1 : 0;
