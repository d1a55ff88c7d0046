import { parse } from 'dotenv';
import { invalid, type Setting } from './rules.ts';

/** The variables of a dotenv file, as the `dotenv` library reads it; what it does not read as one is left out. */
export function parseDotenv(text: string): Setting[] {
  // Editors put it before the first line, where it would become part of the first name.
  const entries = Object.entries(parse(text.replace(/^\uFEFF/, '')));
  if (entries.length === 0 && /\S/.test(text.replaceAll(/^\s*#.*$/gm, ''))) {
    throw invalid('Invalid file: no line of it is a variable in dotenv form, such as NAME=value');
  }
  return entries.map(([name, value]) => ({ name, value }));
}
