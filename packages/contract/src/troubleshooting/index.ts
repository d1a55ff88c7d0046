/** Maps messages to the sections of docs/troubleshooting.md that explain them. A test keeps both in sync. */
export { anchorOf, anchorOfFailure, anchorOfReply, anchors, type Anchor } from './find.ts';
