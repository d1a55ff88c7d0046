import { z } from 'zod';
import { roles } from '../access.ts';
import { environmentKinds } from '../environment.ts';
import { operation } from '../operation.ts';
import { date } from './shapes.ts';

/**
 * The login methods: a one-time link, a personal access token, an approval from another device, a password, or the identity provider of the
 * organization.
 */
export const browserMethods = ['link', 'token', 'approval', 'password', 'oidc'] as const;
export type BrowserMethod = (typeof browserMethods)[number];

/** The minimum and maximum length of a password, in characters. */
export const passwordLength = { min: 12, max: 128 } as const;

const secret = z.string().min(1).max(256);
const email = z.email().max(320);

export const browserSession = z.object({
  id: z.string(),
  method: z.enum(browserMethods),
  /** As sent by the browser. */
  userAgent: z.string().nullable(),
  /** The IP address from which it was opened: of the peer, or of the client behind a trusted proxy. */
  address: z.string(),
  createdAt: date,
  /** Accurate to five minutes. */
  lastUsedAt: date,
  /** The latest possible end; at least 12 hours after the last use. */
  expiresAt: date,
  /** Whether it is the session of this request. */
  isCurrent: z.boolean(),
});
export type BrowserSession = z.infer<typeof browserSession>;

export const createBrowserSession = operation({
  id: 'createBrowserSession',
  method: 'POST',
  path: '/api/v1/browser-sessions',
  tag: 'browser sessions',
  summary: 'Log a browser in. The session is in a cookie that scripts cannot read',
  access: { open: true },
  body: z
    .strictObject({
      /** The token of a one-time link. */
      token: secret.optional(),
      /** A personal access token. */
      accessToken: secret.optional(),
      /**
       * The code from `POST /api/v1/authorization-code`, whose user code is approved on another device. Until it is approved, the session
       * is null.
       */
      authorizationCode: secret.optional(),
      email: z.string().min(1).max(320).optional(),
      password: z.string().min(1).max(1_024).optional(),
    })
    .refine(
      ({ email: name, password, ...others }) =>
        [...Object.values(others), name].filter((way) => way !== undefined).length === 1 &&
        (name === undefined) === (password === undefined),
      'send one of token, accessToken, authorizationCode, or email with password',
    ),
  reply: z.object({
    session: browserSession.nullable(),
    /** The reason why there is no session: not approved yet, or polled too fast; wait `interval` from now on. */
    state: z.enum(['authorization_pending', 'slow_down']).optional(),
    /** Seconds until the next poll. */
    interval: z.number().int().optional(),
  }),
  errors: [404, 429],
});

/** An environment that the user may select. Branches are in `listEnvironments`. */
const choice = z.object({
  id: z.string(),
  name: z.enum(environmentKinds),
  paused: z.boolean(),
});

export const currentBrowserSession = z.object({
  session: browserSession,
  user: z.object({ id: z.string(), name: z.string(), email: z.string().optional() }),
  organizations: z.array(z.object({ id: z.string(), name: z.string(), role: z.enum(roles) })),
  projects: z.array(
    z.object({
      /** For the header `x-millrace-project`. */
      ref: z.string(),
      name: z.string(),
      organization: z.object({ id: z.string(), name: z.string() }),
      role: z.enum(roles),
      environments: z.array(choice),
    }),
  ),
  server: z.object({
    version: z.string(),
    /** When the installation was paused; null if it is not paused. */
    pausedAt: date.nullable(),
  }),
});
export type CurrentBrowserSession = z.infer<typeof currentBrowserSession>;

export const retrieveCurrentBrowserSession = operation({
  id: 'retrieveCurrentBrowserSession',
  method: 'GET',
  path: '/api/v1/browser-sessions/current',
  tag: 'browser sessions',
  summary: 'Retrieve the logged-in user with the available projects and environments',
  access: { browser: 'own' },
  reply: currentBrowserSession,
});

const ended = z.object({ id: z.string() });

export const endCurrentBrowserSession = operation({
  id: 'endCurrentBrowserSession',
  method: 'DELETE',
  path: '/api/v1/browser-sessions/current',
  tag: 'browser sessions',
  summary: 'Log out',
  access: { browser: 'own' },
  reply: ended,
});

export const listBrowserSessions = operation({
  id: 'listBrowserSessions',
  method: 'GET',
  path: '/api/v1/browser-sessions',
  tag: 'browser sessions',
  summary: 'List the browsers in which the user is logged in',
  access: { personalAccessToken: true },
  reply: z.object({ data: z.array(browserSession) }),
});

export const revokeBrowserSession = operation({
  id: 'revokeBrowserSession',
  method: 'DELETE',
  path: '/api/v1/browser-sessions/:sessionId',
  tag: 'browser sessions',
  summary: 'Log the user out of one browser immediately',
  access: { personalAccessToken: true },
  params: z.object({ sessionId: z.string().min(1).max(128) }),
  reply: ended,
  errors: [404],
});

export const createBrowserLink = operation({
  id: 'createBrowserLink',
  method: 'POST',
  path: '/api/v1/browser-links',
  tag: 'browser sessions',
  summary: 'Create a link that logs one browser in, once, within ten minutes',
  access: { personalAccessToken: true, browser: false },
  reply: z.object({
    /** For `createBrowserSession`. */
    token: z.string(),
    /** The login page with the token in its fragment, which is not sent to any server. */
    url: z.string(),
    expiresAt: date,
  }),
  errors: [429],
});

export const listLoginProviders = operation({
  id: 'listLoginProviders',
  method: 'GET',
  path: '/api/v1/login-providers',
  tag: 'browser sessions',
  summary: 'List the identity providers for browser logins',
  access: { open: true },
  reply: z.object({
    data: z.array(
      z.object({
        /** The name that the login page shows. */
        name: z.string(),
        /** The URL to open in a browser; `?return=` and a dashboard path set the page shown after login. */
        url: z.string(),
      }),
    ),
  }),
});

export const setPassword = operation({
  id: 'setPassword',
  method: 'PUT',
  path: '/api/v1/password',
  tag: 'browser sessions',
  summary: "Set or remove the user's password; their browsers are logged out",
  access: { personalAccessToken: true, browser: false },
  body: z.object({
    /** Null removes it. */
    password: z
      .string()
      .min(passwordLength.min, `must have at least ${passwordLength.min} characters`)
      .max(passwordLength.max, `must have at most ${passwordLength.max} characters`)
      .nullable(),
    /** For a user who has no email address yet. */
    email: email.optional(),
  }),
  reply: z.object({
    /** The email address for logging in with the password. */
    email: z.string().nullable(),
    hasPassword: z.boolean(),
  }),
  errors: [422],
});
