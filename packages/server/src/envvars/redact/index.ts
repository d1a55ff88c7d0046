/** For whoever shows what runs say: the same search for secrets as the server's. */
export { redactLines, redactOutcome, redactTexts } from './messages.ts';
export { createRedactor, type Redactor } from './redactor.ts';
