import bolt from '@slack/bolt';

export default async () =>
  typeof new bolt.App({ token: 'none', signingSecret: 'none', tokenVerificationEnabled: false }).command;
