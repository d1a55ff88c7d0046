export * from './assignment.ts';
export type { CompactAssignment } from './compact.ts';
export * from './bundle.ts';
export * from './credential.ts';
export * from './manifest.ts';
export * from './messages.ts';
export * from './published.ts';
export * from './read-message.ts';
export * from './spans.ts';
