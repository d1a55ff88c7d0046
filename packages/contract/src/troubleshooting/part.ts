/** A part of a message, with the anchor of its section in docs/troubleshooting.md. `…` stands for text without a line end. */
export type Part = readonly [part: string, anchor: string];
