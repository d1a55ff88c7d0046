import { parse } from 'dotenv';
import { invalid, type Setting } from './rules.ts';

/** Parses a dotenv file with the `dotenv` library, which skips invalid lines. */
export function parseDotenv(text: string): Setting[] {
  // A byte order mark would become part of the first name.
  const entries = Object.entries(parse(text.replace(/^\uFEFF/, '')));
  if (entries.length === 0 && /\S/.test(text.replaceAll(/^\s*#.*$/gm, ''))) {
    throw invalid('Invalid file: it contains no variable in dotenv format, such as NAME=value');
  }
  return entries.map(([name, value]) => ({ name, value }));
}
