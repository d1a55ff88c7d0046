/** Variables could not be read. The message names the source and the fix; it never contains a value. */
export class VariablesUnread extends Error {
  override name = 'VariablesUnread';
}
