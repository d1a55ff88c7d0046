import { entriesOf, type Entry } from './entry.ts';
import { noChannels, noSkills, noTokens } from './notes.ts';

const { works, differs, not } = entriesOf('module');

/** The other entry points of `@trigger.dev/sdk`, and packages for projects of it. */
export const moduleRows: readonly Entry[] = [
  ...works('@trigger.dev/sdk', '@trigger.dev/sdk/v3', '@trigger.dev/sdk/ai', '@trigger.dev/sdk/chat'),
  ...works('@trigger.dev/sdk/chat/react', '@trigger.dev/sdk/chat-server', '@trigger.dev/sdk/ai/test'),
  ...works('@trigger.dev/react-hooks', '@trigger.dev/core'),
  differs('@trigger.dev/build', 'extensions that change the image of a deployment have no effect'),
  ...not(noSkills, '@trigger.dev/sdk/ai/skills-runtime'),
  ...not(noTokens, '@trigger.dev/sdk/oidc/aws'),
  ...not(
    'Python is not part of a deployment here: start scripts with node:child_process',
    '@trigger.dev/python',
  ),
  ...not(noChannels, '@trigger.dev/slack', '@trigger.dev/linear'),
];
