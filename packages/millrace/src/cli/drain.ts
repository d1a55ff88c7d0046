type Output = Pick<NodeJS.WriteStream, 'writableLength' | 'destroyed' | 'write' | 'once'>;

/**
 * Resolves when stdout and stderr have taken everything that was written. A pipe takes 64 KiB until somebody reads it; the rest is in this
 * process and would be lost with it. Whoever has stopped reading is not waited for.
 */
export async function drained(outputs: readonly Output[] = [process.stdout, process.stderr]): Promise<void> {
  await Promise.all(outputs.map(taken));
}

const taken = (output: Output): Promise<void> =>
  new Promise((resolve) => {
    if (output.writableLength === 0 || output.destroyed) return resolve();
    output.once('close', resolve);
    // Comes after everything before it, also when that fails.
    output.write('', () => resolve());
  });
