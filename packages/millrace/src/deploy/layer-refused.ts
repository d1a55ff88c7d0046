/** The layer cannot be planned or built. The message contains the reason. */
export class LayerRefused extends Error {
  override readonly name = 'LayerRefused';
}
