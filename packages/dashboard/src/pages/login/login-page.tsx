import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { messageOf } from '../../api/api-error.ts';
import { baseUrl, call } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Command } from '../../parts/empty.tsx';
import { TextField } from '../../parts/form/field.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { takeLink } from './link.ts';
import './login.css';

/** Shown instead of any page until the user is logged in: the address does not change, so a link to a run survives the login. */
export default function LoginPage() {
  const [way, setWay] = useState('command');
  useEffect(() => {
    document.title = 'Log in · Millrace';
  }, []);
  return (
    <main className="login">
      <div className="login-box">
        <h1>Log in to Millrace</h1>
        <LinkLogin />
        <ProviderLogin />
        <Tabs
          label="Ways to log in"
          selected={way}
          onSelect={setWay}
          tabs={[
            { id: 'command', label: 'Command line', content: <ApprovalLogin /> },
            { id: 'token', label: 'Token', content: <TokenLogin /> },
            { id: 'password', label: 'Password', content: <PasswordLogin /> },
          ]}
        />
      </div>
    </main>
  );
}

type Credential = Parameters<typeof call<'createBrowserSession'>>[1]['body'];

/** After the login: requests the session. The page of the address is then shown. */
function useEntry(): () => Promise<void> {
  const client = useQueryClient();
  const router = useRouter();
  return async () => {
    await client.resetQueries(sessionQuery);
    await router.invalidate();
  };
}

function useLogin() {
  const enter = useEntry();
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const logIn = async (body: Credential): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await call('createBrowserSession', { body });
      await enter();
    } catch (thrown) {
      setError(messageOf(thrown));
    } finally {
      setBusy(false);
    }
  };
  return { logIn, error, isBusy };
}

/** Handles a one-time link, as printed by `millrace dev` or created by `millrace open`. */
function LinkLogin() {
  const { logIn, error, isBusy } = useLogin();
  const [token] = useState(takeLink);
  useEffect(() => {
    if (token !== undefined) void logIn({ token });
    // Once, because the link can only be used once.
  }, [token]);
  if (token === undefined) return null;
  if (isBusy) return <p role="status">Logging in with your link</p>;
  return error === undefined ? null : (
    <p className="field-error" role="alert">
      {error}
    </p>
  );
}

/** The identity provider of the organization, if there is one. The reader returns to the requested page. */
function ProviderLogin() {
  const { data } = useQuery({
    queryKey: ['listLoginProviders'],
    queryFn: ({ signal }) => call('listLoginProviders', {}, { signal }),
    staleTime: Infinity,
  });
  return data?.data.map(({ name }) => (
    <a
      key={name}
      className="button main"
      // Not the address in the response: a proxy may not forward the one that the browser uses.
      href={`${baseUrl}login/oidc?return=${encodeURIComponent(ownAddress())}`}
    >
      Sign in with {name}
    </a>
  ));
}

/** The requested page, without the server's base path. */
const ownAddress = (): string =>
  `/${location.pathname.slice(new URL(baseUrl).pathname.length)}${location.search}`;

const Ways = ({ children }: { readonly children: ReactNode }) => <div className="stack">{children}</div>;

/** Shows a code, which a user who is logged in with the CLI approves. */
function ApprovalLogin() {
  const entry = useEntry();
  const enter = useEffectEvent(entry);
  const [userCode, setUserCode] = useState<string>();
  const [error, setError] = useState<string>();
  const [tries, setTries] = useState(0);

  useEffect(() => {
    if (tries === 0) return undefined;
    const abort = new AbortController();
    void poll(abort.signal, setUserCode)
      .then(async (isIn) => {
        if (isIn) await enter();
      })
      .catch((thrown: unknown) => {
        if (abort.signal.aborted) return;
        setUserCode(undefined);
        setError(messageOf(thrown));
      });
    return () => abort.abort();
  }, [tries]);

  return (
    <Ways>
      <p className="muted">
        On the machine that runs <code>millrace dev</code>, open the link that it prints. On a machine where
        the command line is logged in to this server, create a link:
      </p>
      <Command text="npx millrace open" />
      <p className="muted">Or approve this browser from any such machine.</p>
      {userCode === undefined ? (
        <Button
          variant="main"
          onClick={() => {
            setError(undefined);
            setTries(tries + 1);
          }}
        >
          Get a code
        </Button>
      ) : (
        <div className="stack" role="status">
          <p className="login-code">{userCode}</p>
          <Command text={`npx millrace tokens approve ${userCode}`} />
          <p className="muted">Waiting for the approval. The code expires in ten minutes.</p>
        </div>
      )}
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </Ways>
  );
}

/** Requests a code and polls until it is approved. */
async function poll(signal: AbortSignal, onCode: (code: string) => void): Promise<boolean> {
  const authorization = await call(
    'createAuthorizationCode',
    { body: { hostName: 'the dashboard in a browser' } },
    { signal },
  );
  onCode(authorization.userCode);
  let seconds = authorization.interval;
  while (!signal.aborted && Date.now() < Date.parse(authorization.expiresAt)) {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    if (signal.aborted) return false;
    const { session, interval } = await call(
      'createBrowserSession',
      { body: { authorizationCode: authorization.authorizationCode } },
      { signal },
    );
    if (session) return true;
    seconds = interval ?? seconds;
  }
  throw new Error('The code expired without approval. Get another one.');
}

function TokenLogin() {
  const { logIn, error, isBusy } = useLogin();
  const [accessToken, setToken] = useState('');
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void logIn({ accessToken: accessToken.trim() });
      }}
    >
      <TextField
        label="Personal access token"
        hint={
          <>
            <code>millrace tokens create</code> creates one. This browser does not store it.
          </>
        }
        type="password"
        autoComplete="off"
        required
        value={accessToken}
        onChange={(event) => setToken(event.target.value)}
        error={error}
      />
      <div className="form-actions">
        <Button type="submit" variant="main" isBusy={isBusy}>
          Log in
        </Button>
      </div>
    </form>
  );
}

function PasswordLogin() {
  const { logIn, error, isBusy } = useLogin();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void logIn({ email: email.trim(), password });
      }}
    >
      <TextField
        label="E-mail"
        type="email"
        autoComplete="username"
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={error}
        hint={
          <>
            <code>millrace members set-password</code> sets one.
          </>
        }
      />
      <div className="form-actions">
        <Button type="submit" variant="main" isBusy={isBusy}>
          Log in
        </Button>
      </div>
    </form>
  );
}
