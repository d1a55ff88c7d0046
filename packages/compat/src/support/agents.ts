import { entriesOf, type Entry } from './entry.ts';
import { noChannels, noSkills, ownSession } from './notes.ts';

const { works, members, none, not } = entriesOf('agents');

/** The exports of `@trigger.dev/sdk/ai`, 4.5 to 4.8, and the members of `chat`. */
export const agentRows: readonly Entry[] = [
  ...works('ai', 'chat', 'defaultStorage', 'memoryTranscriptStorage', 'snapshotTranscriptStorage'),
  ...works('reduceTranscriptChanges', 'upsertIncomingMessage', 'PENDING_MESSAGE_INJECTED_TYPE'),
  ...members('ai', 'tool', 'toolExecute', 'currentToolOptions', 'toolCallId', 'chatContext'),
  ...members('ai', 'chatContextOrThrow'),
  ...members('chat', 'agent', 'customAgent', 'createSession', 'withUIMessage', 'withClientData'),
  ...members('chat', 'createStartSessionAction', 'createLoadTranscriptAction', 'createAccessToken'),
  ...members('chat', 'createWatchToken', 'setTurnTimeout', 'setTurnTimeoutInSeconds', 'turn', 'local'),
  ...members('chat', 'setIdleTimeoutInSeconds', 'setUIMessageStreamOptions', 'isStopped', 'requestUpgrade'),
  ...members('chat', 'endAndContinue', 'endRun', 'close', 'cleanupAbortedParts', 'defer', 'inject'),
  ...members('chat', 'deferBeforeOutput', 'stream', 'response', 'forwardSubAgent', 'messages', 'session'),
  ...members('chat', 'channel', 'createStopSignal', 'writeTurnComplete', 'pipe', 'pipeAndCapture'),
  ...members('chat', 'MessageAccumulator', 'waitForHandover', 'prompt', 'toStreamTextOptions'),
  ...members('chat', 'setMessages', 'history', 'isCompactionSafe', 'compactionStep', 'compact'),
  ...members('chat', 'getCompactionState', 'sessionId'),
  ...not(ownSession, 'chat.event'),
  ...not(noChannels, 'chat.channels', 'chat.channels.custom', 'chatChannelCustom'),
  ...not(noSkills, 'chat.skills', 'buildSkillTools'),
  ...none('conversations have no channels', 'chat.surface', 'resolveReactionChoice'),
  ...none('conversations have no channels', 'CHANNEL_TURN_ERROR_MESSAGE'),
];
