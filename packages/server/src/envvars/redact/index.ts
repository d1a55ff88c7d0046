/** Redaction of secrets, for the server and for commands that print the output of runs. */
export { redactLines, redactOutcome, redactTexts } from './messages.ts';
export { createRedactor, type Redactor } from './redactor.ts';
