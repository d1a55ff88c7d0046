/** Triggers runs in transactions of your own database. */
export { trigger, type TriggeredInTransaction } from './trigger.ts';
export type { Transaction } from './transaction.ts';
export { TransactionError, type TransactionErrorCode } from './transaction-error.ts';
