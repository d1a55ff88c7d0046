/** Alternatives to features that have several names. */
export const noTokens = 'Millrace does not issue OIDC tokens: set credentials for the task as variables';
export const ownSession = 'start the session in `onEvent` of a `webhook`, with `sessions.start`';
export const noChannels =
  'receive messages with a `webhook`, and reply with the API of Slack or Linear in the task';
export const noSkills = 'add the folder with copyFiles, and read its files';
