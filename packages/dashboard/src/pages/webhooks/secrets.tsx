import type { Webhook } from '@millrace/contract';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';

/** The variables with the secret of a webhook. The others are for a rotation. */
export const Secrets = ({ webhook: { scheme, secrets } }: { readonly webhook: Webhook }) =>
  scheme === 'none' ? (
    <span className="muted">none</span>
  ) : (
    <span className="row wrap">
      {secrets.map(({ name, isSet }) => (
        <span key={name} className="webhook-secret">
          <code className="cut">{visibleControls(name)}</code> {isSet ? 'is set' : 'is not set'}
        </span>
      ))}
    </span>
  );

/** Shown while a webhook rejects every request. */
export const SecretNotice = ({ webhook: { secrets } }: { readonly webhook: Webhook }) => (
  <div className="notice tone-warn webhook-notice" role="status">
    <span>
      <span className="strong">Every request is rejected.</span> Set{' '}
      {secrets.map(({ name }) => name).join(' or ')} to the secret that the provider shows.{' '}
      <PageLink to="/variables">Variables</PageLink>
    </span>
  </div>
);
