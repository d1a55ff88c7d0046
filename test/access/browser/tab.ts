import type { Answer, Ask, SharedInstallation } from '../installation.ts';

/** The headers that the dashboard page and its browser send. */
export const fromPage = { 'x-millrace-dashboard': '1', 'sec-fetch-site': 'same-origin' } as const;

/** A browser that is logged in. */
export interface Tab {
  /** `name=value` */
  readonly cookie: string;
  readonly id: string;
  /** As the page requests data of an environment; without one, data of its user. */
  ask(request: string, options?: Omit<Ask, 'key'> & { readonly env?: string }): Promise<Answer>;
}

/** The cookie that a reply sets, without its attributes. */
export const cookieIn = ({ headers }: Answer): string => headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';

export const environmentHeaders = (projectRef: string, env: string) => ({
  'x-millrace-project': projectRef,
  'x-millrace-environment': env,
});

/** Logs a browser in, with the token of the first user by default. */
export async function logIn(
  { ask, token, projectRef, server }: SharedInstallation,
  by: object = { accessToken: token },
  options: Pick<Ask, 'headers' | 'server'> = {},
): Promise<Tab> {
  const answer = await ask('POST /api/v1/browser-sessions', {
    key: '',
    body: by,
    ...options,
    headers: { ...fromPage, ...options.headers },
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  const cookie = cookieIn(answer);
  return {
    cookie,
    id: answer.body.session.id as string,
    ask: (request, { env, headers, ...more } = {}) =>
      ask(request, {
        ...more,
        key: '',
        headers: {
          ...fromPage,
          cookie,
          // Another process of the installation, behind the same address.
          'x-forwarded-host': new URL(server.url).host,
          ...(env !== undefined && environmentHeaders(projectRef, env)),
          ...headers,
        },
      }),
  };
}
