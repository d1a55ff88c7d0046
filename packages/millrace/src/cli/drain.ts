type Output = Pick<NodeJS.WriteStream, 'writableLength' | 'destroyed' | 'write' | 'once'>;

/**
 * Resolves when stdout and stderr have accepted all written data. A pipe buffers 64 KiB until it is read; the rest is still in this process
 * and would be lost on exit. A closed output is ignored.
 */
export async function drained(outputs: readonly Output[] = [process.stdout, process.stderr]): Promise<void> {
  await Promise.all(outputs.map(taken));
}

const taken = (output: Output): Promise<void> =>
  new Promise((resolve) => {
    if (output.writableLength === 0 || output.destroyed) return resolve();
    output.once('close', resolve);
    // Called after all earlier writes, even if they fail.
    output.write('', () => resolve());
  });
