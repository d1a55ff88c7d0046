import type { SmtpSecurity } from '@millrace/contract';
import { SelectField, TextField } from '../../parts/form/field.tsx';

/** As entered. */
export interface MailSettings {
  readonly host: string;
  readonly port: string;
  readonly security: SmtpSecurity;
  readonly user: string;
  readonly password: string;
  readonly from: string;
  readonly to: string;
}

interface MailFieldsProps {
  readonly settings: MailSettings;
  readonly onChange: (settings: MailSettings) => void;
  /** Whether the server already has a password. */
  readonly isKnown: boolean;
  readonly error: string | undefined;
}

const usualPorts: Readonly<Record<SmtpSecurity, string>> = { tls: '465', starttls: '587', none: '25' };

export function MailFields({ settings, onChange, isKnown, error }: MailFieldsProps) {
  const set = (change: Partial<MailSettings>): void => onChange({ ...settings, ...change });
  return (
    <>
      <div className="notification-columns">
        <TextField
          label="Mail server"
          placeholder="smtp.example.com"
          required
          value={settings.host}
          onChange={(event) => set({ host: event.target.value })}
        />
        <SelectField
          label="Encryption"
          value={settings.security}
          onChange={(event) => {
            const security = event.target.value as SmtpSecurity;
            set({ security, port: usualPorts[security] });
          }}
          options={[
            { value: 'tls', label: 'TLS' },
            { value: 'starttls', label: 'STARTTLS' },
            { value: 'none', label: 'None (private networks)' },
          ]}
        />
        <TextField
          label="Port"
          inputMode="numeric"
          pattern="[0-9]+"
          required
          value={settings.port}
          onChange={(event) => set({ port: event.target.value })}
        />
      </div>
      <div className="notification-columns">
        <TextField
          label="User"
          value={settings.user}
          autoComplete="off"
          onChange={(event) => set({ user: event.target.value })}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="new-password"
          hint={isKnown ? 'Leave empty to keep it.' : undefined}
          value={settings.password}
          onChange={(event) => set({ password: event.target.value })}
        />
      </div>
      <TextField
        label="From"
        type="email"
        placeholder="alerts@example.com"
        required
        value={settings.from}
        onChange={(event) => set({ from: event.target.value })}
      />
      <TextField
        label="To"
        placeholder="ops@example.com, ada@example.com"
        hint="At most 20, separated by commas."
        required
        value={settings.to}
        error={error}
        onChange={(event) => set({ to: event.target.value })}
      />
    </>
  );
}
