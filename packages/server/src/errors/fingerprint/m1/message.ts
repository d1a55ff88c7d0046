import { messagesBy } from '../normalise.ts';
import { quotes } from './quotes.ts';
import { shapes } from './shapes.ts';
import { forms, identifiers, protectedNumbers } from './tokens.ts';
import { isErrorWord, withoutBareData } from './vocabulary.ts';

export const { normaliseMessage, comparable } = messagesBy({
  shapes,
  forms,
  protectedNumbers,
  quotes,
  identifiers,
  isErrorWord,
  withoutBareData,
});
