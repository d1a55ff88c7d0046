/** The resources that a public token can be scoped to. */
export type PublicTokenResource =
  | 'runs'
  | 'tasks'
  | 'tags'
  | 'batch'
  | 'queues'
  | 'errors'
  | 'sessions'
  | 'events'
  | 'waitpoints'
  | 'inputStreams';

/** `true` means every object of the kind; otherwise one id or several. */
export type ScopedTo = true | string | readonly string[];

type On<R extends string> = { readonly [K in R]?: ScopedTo };

/**
 * The permissions of a public token, by action and kind of object, or as scope strings.
 *
 * @example
 * const scopes: PublicTokenScopes = { read: { runs: ['run_1', 'run_2'], tags: 'org:42' }, write: { sessions: 'chat-1' } };
 * const texts: PublicTokenScopes = ['read:runs:run_1'];
 */
export type PublicTokenScopes =
  | readonly string[]
  | {
      readonly read?: On<PublicTokenResource>;
      readonly write?: On<PublicTokenResource>;
      readonly trigger?: On<'tasks'>;
      readonly batchTrigger?: On<'tasks'>;
    };

const isTexts = (scopes: PublicTokenScopes): scopes is readonly string[] => Array.isArray(scopes);

/** The scopes as strings, such as `read:runs:run_1`. */
export function scopeTexts(scopes: PublicTokenScopes): readonly string[] {
  if (isTexts(scopes)) return scopes;
  return Object.entries(scopes).flatMap(([action, on]) =>
    Object.entries(on ?? {}).flatMap(([type, to]: [string, ScopedTo | undefined]) => {
      if (to === undefined) return [];
      if (to === true) return [`${action}:${type}`];
      return (typeof to === 'string' ? [to] : to).map((id) => `${action}:${type}:${id}`);
    }),
  );
}
