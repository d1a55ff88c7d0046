/** Variables could not be read. The message says from where and what to do; it never holds a value. */
export class VariablesUnread extends Error {
  override name = 'VariablesUnread';
}
