/** Which section of docs/troubleshooting.md explains a message. A test holds this and the page together. */
export { anchorOf, anchorOfFailure, anchorOfReply, anchors, type Anchor } from './find.ts';
